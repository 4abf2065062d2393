import type { KeyboardEvent } from 'react';

export interface IChoice<T> {
  value: T;
  label: string;
  /** What it means, in one line. */
  help: string;
  /** Whether it cannot be chosen. */
  disabled?: boolean;
}

/**
 * A few choices of which one holds, by mouse or by arrow keys.
 */
export function ChoiceMenu<T extends string>(props: {
  label: string;
  choices: readonly IChoice<T>[];
  current: T;
  onChoose: (value: T) => void;
}): JSX.Element {
  return (
    <div
      role="radiogroup"
      aria-label={props.label}
      className="jp-OpenHands-menu"
      onKeyDown={moveFocus}
    >
      {props.choices.map(choice => (
        <button
          key={choice.value}
          type="button"
          role="radio"
          aria-checked={choice.value === props.current}
          disabled={choice.disabled}
          onClick={() => props.onChoose(choice.value)}
        >
          <strong>{choice.label}</strong>
          <span>{choice.help}</span>
        </button>
      ))}
    </div>
  );
}

function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step !== undefined) {
    const buttons = [
      ...event.currentTarget.querySelectorAll<HTMLElement>(
        'button:not([disabled])'
      )
    ];
    const index = buttons.findIndex(b => b === document.activeElement);
    buttons[(index + step + buttons.length) % buttons.length]?.focus();
    event.preventDefault();
  }
}
