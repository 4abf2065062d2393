import type { Event } from '../events';
import type { IRestoreItem, ITurnItem } from '../items';
import { Timeline } from '../timeline';
import { command, log, output, userMessage } from './samples';

const checkpoint = (action: number, changed?: number): Event => ({
  type: 'CheckpointObservation',
  action,
  checkpoint: `c${action}${changed === undefined ? '' : 'end'}`,
  ...(changed === undefined ? {} : { since: `c${action}`, changed })
});
const undo = (turn: number): Event => ({
  type: 'UndoAction',
  source: 'user',
  turn
});
const restored = (cause: number): Event => ({
  type: 'FilesRestoredObservation',
  cause,
  target: 't',
  checkpoint: 'after',
  restored: 2
});

/** A turn that changed files (0 to 4), so that the next event is 5. */
const TURN: Event[] = [
  userMessage('go'),
  command('touch a'),
  checkpoint(1),
  output(1, ''),
  checkpoint(1, 2)
];

function turn(timeline: Timeline): ITurnItem {
  return timeline.items.find(item => item.kind === 'turn') as ITurnItem;
}

function restores(timeline: Timeline): IRestoreItem[] {
  return timeline.items.filter(
    (item): item is IRestoreItem => item.kind === 'restore'
  );
}

describe('Timeline with checkpoints', () => {
  let timeline: Timeline;

  beforeEach(() => {
    timeline = new Timeline();
    timeline.append(log(0, ...TURN));
  });

  it('shows a row at the end of a turn that changed files', () => {
    expect(timeline.items.map(item => item.kind)).toEqual([
      'user',
      'action',
      'turn'
    ]);
    expect(turn(timeline)).toMatchObject({
      turn: 1,
      before: 'c1',
      after: 'c1end',
      changed: 2,
      cells: 0,
      undone: false
    });
  });

  it('shows nothing at the end of a turn that changed nothing', () => {
    timeline.append(log(5, command('ls'), checkpoint(5), checkpoint(5, 0)));
    expect(timeline.items.filter(item => item.kind === 'turn')).toHaveLength(1);
  });

  it('marks a turn as undone once its files are restored', () => {
    timeline.append(log(5, undo(1), checkpoint(5)));
    expect(restores(timeline)[0]).toMatchObject({ id: 5, result: null });
    expect(turn(timeline).undone).toBe(false);
    timeline.append(log(7, restored(5)));
    expect(restores(timeline)[0].result).toMatchObject({ restored: 2 });
    expect(turn(timeline).undone).toBe(true);
  });

  it('takes the mark back when the undo is undone', () => {
    timeline.append(log(5, undo(1), restored(5), undo(5), restored(7)));
    expect(turn(timeline).undone).toBe(false);
    expect(restores(timeline).map(item => item.undone)).toEqual([true, false]);
  });

  it('keeps an undo that failed, with its error', () => {
    timeline.append(
      log(5, undo(1), {
        type: 'ErrorObservation',
        cause: 5,
        code: 'checkpoint_not_found',
        message: 'gone'
      })
    );
    expect(restores(timeline)[0].result).toMatchObject({ message: 'gone' });
    expect(turn(timeline).undone).toBe(false);
    expect(timeline.items.some(item => item.kind === 'error')).toBe(false);
  });

  it('marks all turns from the event on that was gone back to', () => {
    const rewind: Event = {
      type: 'RewindAction',
      source: 'user',
      event: 1,
      replay: true
    };
    const again: Event = {
      type: 'IPythonRunCellAction',
      source: 'user',
      cause: 8,
      code: 'x'
    };
    const done: Event = {
      type: 'ReplayObservation',
      cause: 8,
      cells: 1,
      done: 1
    };
    timeline.append(
      log(5, command('b'), checkpoint(5), checkpoint(5, 1), rewind, restored(8))
    );
    const turns = timeline.items.filter(
      (item): item is ITurnItem => item.kind === 'turn'
    );
    expect(turns.map(item => item.undone)).toEqual([true, true]);
    timeline.append(log(10, again));
    expect(restores(timeline)[0]).toMatchObject({ replayed: 1, replay: null });
    timeline.append(log(11, done));
    expect(restores(timeline)[0].replay).toMatchObject({ done: 1 });
  });

  it('is the same when the events come in two pages', () => {
    timeline.append(log(5, undo(1), restored(5)));
    const paged = new Timeline();
    paged.append(log(5, undo(1), restored(5)));
    paged.prepend(log(0, ...TURN));
    expect(paged.items).toEqual(timeline.items);
  });

  it('says that nothing can be undone', () => {
    timeline.append(
      log(5, {
        type: 'NoCheckpointObservation',
        action: 5,
        code: 'checkpoint_too_large',
        message: 'No undo.'
      })
    );
    expect(timeline.items[3]).toMatchObject({
      kind: 'no_checkpoint',
      message: 'No undo.'
    });
  });
});
