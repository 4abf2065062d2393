import { createContext } from 'react';

/**
 * Goes to the row of an event, from another row of the timeline; null where there is none.
 */
export const GoTo = createContext<((event: number) => void) | null>(null);
