import { stopIcon } from '@jupyterlab/ui-components';
import type { FocusEvent, KeyboardEvent, RefObject } from 'react';
import { useLayoutEffect, useState } from 'react';
import { AgentPicker } from './agentpicker';
import { ContextChips } from './context';
import { ModePicker } from './modepicker';
import { useObservable, useServices } from './services';

/**
 * Where a message is written.
 */
export function Composer(props: {
  input: RefObject<HTMLTextAreaElement>;
}): JSX.Element {
  const { input } = props;
  const { context, model, settings, trans } = useServices();
  useObservable(model);
  useObservable(model.current);
  const session = model.current;
  const id = session?.id ?? null;
  const [text, setText] = useState(() => model.draft(id));
  const [shown, setShown] = useState('');
  const toShow = `${id}:${model.draftVersion}`;
  if (shown !== toShow) {
    setShown(toShow);
    setText(model.draft(id));
  }
  const [sending, setSending] = useState(false);
  const busy = session?.busy ?? false;
  const placeholder = session?.pending
    ? trans.__('A message instead of a decision rejects the step')
    : busy
      ? trans.__('Add something; the agent reads it after this step')
      : session?.timeline.question
        ? trans.__('Your answer')
        : session?.info.stuck
          ? trans.__('A hint, or something else to do')
          : trans.__('What shall be done?');

  useLayoutEffect(() => {
    fitToContent(input.current!);
  }, [input, text]);

  const change = (value: string): void => {
    setText(value);
    model.setDraft(id, value);
  };
  const send = async (): Promise<void> => {
    if (!text.trim() || sending) {
      return;
    }
    setSending(true);
    const parts = await model.attempt(
      async () => context?.collect(model.contextOff) ?? []
    );
    // The kernel may have taken a moment, in which another session can be opened.
    if ((model.current?.id ?? null) === id) {
      await model.sendDraft(parts);
    }
    setSending(false);
    input.current?.focus();
  };
  // Who comes here is about to send something, and wants to see what goes with it.
  const onFocus = (event: FocusEvent): void => {
    if (!event.currentTarget.contains(event.relatedTarget)) {
      void context?.look();
    }
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    // While an input method composes, Enter belongs to it.
    if (event.key !== 'Enter' || event.nativeEvent.isComposing) {
      return;
    }
    const accel = event.ctrlKey || event.metaKey;
    if (settings.sendWithAccel ? accel : !event.shiftKey) {
      event.preventDefault();
      event.stopPropagation();
      void send();
    }
  };

  return (
    <div className="jp-OpenHands-composer" onFocus={onFocus}>
      <ContextChips />
      <textarea
        ref={input}
        rows={2}
        value={text}
        readOnly={sending}
        aria-label={trans.__('Message to the agent')}
        placeholder={placeholder}
        onChange={event => change(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <div className="jp-OpenHands-composerBar">
        <ModePicker />
        <AgentPicker />
        <div className="jp-OpenHands-composerGo">
          {session?.stoppable && (
            <button
              type="button"
              className="jp-OpenHands-button"
              onClick={() => void model.stop()}
            >
              <stopIcon.react tag="span" className="jp-OpenHands-icon" />
              {trans.__('Stop')}
            </button>
          )}
          <button
            type="button"
            className="jp-OpenHands-button jp-mod-accept"
            disabled={!text.trim() || sending}
            onClick={() => void send()}
          >
            {trans.__('Send')}
          </button>
        </div>
      </div>
    </div>
  );
}

function fitToContent(element: HTMLElement): void {
  element.style.height = 'auto';
  element.style.height = `${element.scrollHeight}px`;
}
