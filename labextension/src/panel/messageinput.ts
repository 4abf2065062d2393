import type { RefObject } from 'react';
import { createContext } from 'react';

/**
 * Where messages are written; null where no panel is around.
 */
export const MessageInput =
  createContext<RefObject<HTMLTextAreaElement> | null>(null);
