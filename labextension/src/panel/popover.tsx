import type { ReactNode } from 'react';
import { useEffect, useId, useRef, useState } from 'react';

interface IPopoverProps {
  /** What the button shows. */
  button: ReactNode;
  buttonClass: string;
  buttonTitle?: string;
  /** Accessible name of what pops up. */
  label: string;
  /** Which side of the button it opens to. */
  side: 'above' | 'below';
  /** What pops up; it may close itself. */
  children: (close: () => void) => ReactNode;
  onOpen?: () => void;
}

/**
 * A button with a panel that pops up; Escape or a click elsewhere closes it.
 */
export function Popover(props: IPopoverProps): JSX.Element {
  const [open, setOpen] = useState(false);
  const id = useId();
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);

  useEffect(() => {
    if (!open) {
      return;
    }
    const panel = root.current?.querySelector<HTMLElement>('[role="dialog"]');
    const first =
      panel?.querySelector<HTMLElement>(
        '[aria-current], [aria-checked="true"]'
      ) ?? panel?.querySelector<HTMLElement>('button, input');
    (first ?? panel)?.focus();
    const closeElsewhere = (event: Event): void => {
      if (!root.current?.contains(event.target as Node)) {
        setOpen(false);
      }
    };
    document.addEventListener('pointerdown', closeElsewhere);
    document.addEventListener('focusin', closeElsewhere);
    const opener = button.current;
    return () => {
      document.removeEventListener('pointerdown', closeElsewhere);
      document.removeEventListener('focusin', closeElsewhere);
      // Removing what had the focus leaves it nowhere.
      if (document.activeElement === document.body) {
        opener?.focus();
      }
    };
  }, [open]);

  const close = (): void => setOpen(false);
  const toggle = (): void => {
    if (!open) {
      props.onOpen?.();
    }
    setOpen(!open);
  };

  return (
    <div
      ref={root}
      className="jp-OpenHands-popoverRoot"
      onKeyDown={event => {
        if (open && event.key === 'Escape') {
          event.stopPropagation();
          close();
        }
      }}
    >
      <button
        ref={button}
        type="button"
        className={props.buttonClass}
        title={props.buttonTitle}
        aria-haspopup="dialog"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={toggle}
      >
        {props.button}
      </button>
      {open && (
        <div
          id={id}
          role="dialog"
          aria-label={props.label}
          tabIndex={-1}
          className={`jp-OpenHands-popover jp-mod-${props.side}`}
        >
          {props.children(close)}
        </div>
      )}
    </div>
  );
}
