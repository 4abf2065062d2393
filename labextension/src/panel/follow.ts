import type { RefObject } from 'react';
import { useCallback, useEffect, useRef, useState } from 'react';

/**
 * How near the end, in pixels, counts as being there.
 */
const NEAR_END = 32;

/**
 * Milliseconds within which a scroll is held to come from what the person just did.
 */
const REACTION = 400;

/**
 * What shows or hides something below it when it is clicked.
 */
const UNFOLDING = 'summary, .jp-OpenHands-delegateHead';

const SCROLL_KEYS = [
  'ArrowUp',
  'PageUp',
  'Home',
  'ArrowDown',
  'PageDown',
  'End',
  ' '
];

/**
 * Keep a scrolled element at its end while its content grows, until the person scrolls away.
 *
 * Only what a person does lets go of the end: where rows are measured late and the element itself
 * changes its height, the position alone does not tell.
 *
 * @returns Whether the end is followed, a function that goes there, and one that lets go of it.
 */
export function useFollow(
  scroller: RefObject<HTMLElement>
): [boolean, () => void, () => void] {
  const [following, setFollowing] = useState(true);
  const follow = useRef(true);
  const set = useCallback((value: boolean) => {
    follow.current = value;
    setFollowing(value);
  }, []);

  useEffect(() => {
    const element = scroller.current!;
    let last = positionOf(element);
    const toEnd = (): void => {
      if (element.scrollHeight <= element.clientHeight) {
        set(true);
      }
      if (follow.current) {
        element.scrollTop = element.scrollHeight;
      }
      last = positionOf(element);
    };
    const observer = new ResizeObserver(toEnd);
    observer.observe(element);
    observer.observe(element.firstElementChild!);

    let touched = -Infinity;
    let pressed = false;
    const touch = (): void => {
      touched = performance.now();
    };
    const listeners = new AbortController();
    const { signal } = listeners;
    element.addEventListener('wheel', touch, { passive: true, signal });
    element.addEventListener('touchmove', touch, { passive: true, signal });
    element.addEventListener(
      'keydown',
      event => SCROLL_KEYS.includes(event.key) && touch(),
      { signal }
    );
    element.addEventListener('pointerdown', () => (pressed = true), { signal });
    window.addEventListener('pointerup', () => (pressed = false), { signal });
    element.addEventListener(
      'click',
      event => {
        // What is unfolded at the end has to stay in view.
        if ((event.target as Element).closest(UNFOLDING)) {
          set(false);
        }
      },
      { signal }
    );
    element.addEventListener(
      'scroll',
      () => {
        const now = positionOf(element);
        const byPerson = pressed || performance.now() - touched < REACTION;
        // Such as by a search in the page, or by a screen reader.
        const upwards =
          now.top < last.top &&
          now.height === last.height &&
          now.view === last.view;
        if (byPerson || upwards) {
          set(now.height - now.top - now.view <= NEAR_END);
        }
        last = now;
      },
      { passive: true, signal }
    );
    return () => {
      observer.disconnect();
      listeners.abort();
    };
  }, [scroller, set]);

  const goToEnd = (): void => {
    set(true);
    scroller.current?.scrollTo({ top: Number.MAX_SAFE_INTEGER });
  };
  const letGo = useCallback(() => set(false), [set]);
  return [following, goToEnd, letGo];
}

interface IPosition {
  top: number;
  /** Height of the content. */
  height: number;
  /** Height of what is in view. */
  view: number;
}

function positionOf(element: HTMLElement): IPosition {
  return {
    top: element.scrollTop,
    height: element.scrollHeight,
    view: element.clientHeight
  };
}
