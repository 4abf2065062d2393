import { useVirtualizer } from '@tanstack/react-virtual';
import { caretDownIcon } from '@jupyterlab/ui-components';
import { useCallback, useEffect, useRef } from 'react';
import type { ILiveText } from '../model/live';
import type { SessionModel } from '../model/session';
import type { TimelineItem } from '../model/items';
import { Boundary } from './boundary';
import { useFollow } from './follow';
import { GoTo } from './goto';
import { Item } from './items';
import { LiveRow } from './liverow';
import { useObservable, useServices } from './services';

type Row =
  | { key: number | string; item: TimelineItem }
  | { key: string; live: ILiveText };

/**
 * Characters of growing output that are shown; drawing more of it over and over would be slow.
 */
const LIVE_TAIL = 10_000;

/**
 * Pixels that a row is held to be high until it is drawn.
 */
const ROW_HEIGHT = 96;

/**
 * Rows from the top at which older events are fetched.
 */
const NEAR_TOP = 4;

/**
 * The events of a session; only what is in view is in the page.
 */
export function TimelineView(props: { session: SessionModel }): JSX.Element {
  const { session } = props;
  const { model, trans } = useServices();
  useObservable(session);
  const scroller = useRef<HTMLDivElement>(null);
  const [following, goToEnd, letGo] = useFollow(scroller);
  const rows = rowsOf(session);
  const getItemKey = useCallback((index: number) => rows[index].key, [rows]);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    getItemKey,
    estimateSize: () => ROW_HEIGHT,
    // Otherwise the oldest rows would be drawn first, only to go to the newest.
    initialOffset: rows.length * ROW_HEIGHT,
    overscan: 6,
    // Rows that are put before the first must not move what is in view.
    anchorTo: 'end',
    // No position counts as the end: `useFollow` decides that.
    scrollEndThreshold: -1
  });
  const virtualRows = virtualizer.getVirtualItems();
  const first = virtualRows[0]?.index ?? 0;

  const size = virtualizer.getTotalSize();

  useEffect(() => {
    // The end may be yet to be gone to.
    const atEnd = following && size > scroller.current!.clientHeight;
    if (first < NEAR_TOP && !atEnd) {
      void model.attempt(() => session.loadOlder());
    }
  }, [model, session, session.timeline.firstId, first, following, size]);

  const goTo = useCallback(
    (event: number) =>
      void model.attempt(async () => {
        letGo();
        await session.reveal(event);
        // Once the list has it, and then once it is drawn.
        requestAnimationFrame(() => {
          const index = rowsOf(session).findIndex(({ key }) => key === event);
          if (index >= 0) {
            virtualizer.scrollToIndex(index, { align: 'start' });
            requestAnimationFrame(() =>
              scroller.current
                ?.querySelector<HTMLElement>(`[data-index="${index}"]`)
                ?.focus({ preventScroll: true })
            );
          }
        });
      }),
    [model, session, virtualizer, letGo]
  );

  const pending = session.pending?.id;
  return (
    <div className="jp-OpenHands-timeline">
      <div
        ref={scroller}
        className="jp-OpenHands-scroller"
        role="log"
        aria-label={trans.__('Timeline')}
        aria-live="off"
        tabIndex={0}
      >
        <div className="jp-OpenHands-rows" style={{ height: size }}>
          {virtualRows.map(({ index, key, start }) => {
            const row = rows[index];
            return (
              <div
                key={key}
                ref={virtualizer.measureElement}
                data-index={index}
                tabIndex={-1}
                className="jp-OpenHands-row"
                data-depth={'item' in row ? row.item.path.length : 0}
                style={{ transform: `translateY(${start}px)` }}
              >
                {'item' in row ? (
                  <Boundary
                    instead={
                      <p className="jp-OpenHands-quiet">
                        {trans.__('Event %1 cannot be shown.', row.item.id)}
                      </p>
                    }
                  >
                    <GoTo.Provider value={goTo}>
                      <Item
                        session={session.id}
                        workspace={session.info.workspace}
                        item={row.item}
                        liveOutput={tail(session.live.output(row.item.id))}
                        pending={row.item.id === pending}
                        answerable={
                          row.item.id === session.timeline.lastMessage
                        }
                        folded={session.isFolded(row.item.id)}
                        onFold={session.toggleFold}
                      />
                    </GoTo.Provider>
                  </Boundary>
                ) : (
                  <LiveRow live={row.live} />
                )}
              </div>
            );
          })}
        </div>
      </div>
      {!following && (
        <button type="button" className="jp-OpenHands-toEnd" onClick={goToEnd}>
          <caretDownIcon.react tag="span" className="jp-OpenHands-icon" />
          {trans.__('Newest')}
        </button>
      )}
    </div>
  );
}

function tail(live: ILiveText | undefined): string | null {
  return live ? live.text.slice(-LIVE_TAIL) : null;
}

/**
 * The items, and after them what the model is writing.
 */
function rowsOf(session: SessionModel): Row[] {
  const rows: Row[] = session.timeline.items
    .filter(item => !session.isHidden(item))
    .map(item => ({ key: item.id, item }));
  for (const live of session.live.all) {
    if (live.kind !== 'output') {
      rows.push({ key: `${live.kind}:${live.cause}`, live });
    }
  }
  return rows;
}
