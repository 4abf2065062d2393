import type { ReactNode } from 'react';
import { Component } from 'react';

interface IBoundaryProps {
  /** What is shown in place of what cannot be drawn. */
  instead: ReactNode;
  children: ReactNode;
}

/**
 * Keeps one thing that cannot be drawn from taking the whole panel along.
 */
export class Boundary extends Component<IBoundaryProps, { failed: boolean }> {
  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override state = { failed: false };

  override render(): ReactNode {
    return this.state.failed ? this.props.instead : this.props.children;
  }
}
