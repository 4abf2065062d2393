import type { ReactNode } from 'react';
import { useState } from 'react';

interface IFoldProps {
  summary: ReactNode;
  className?: string;
  openAtFirst?: boolean;
  children: ReactNode;
}

/**
 * Something that is folded away until it is asked for; what is inside is drawn only then.
 */
export function Fold(props: IFoldProps): JSX.Element {
  const [open, setOpen] = useState(props.openAtFirst ?? false);
  return (
    <details
      className={`jp-OpenHands-fold ${props.className ?? ''}`}
      open={open}
      onToggle={event => setOpen(event.currentTarget.open)}
    >
      <summary>{props.summary}</summary>
      {open && props.children}
    </details>
  );
}
