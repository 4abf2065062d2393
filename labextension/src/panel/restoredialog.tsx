import { Dialog, ReactWidget, showDialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { useState } from 'react';
import type { IFileChange, IRestorePreview } from '../model/client';
import { revealOnOneLine } from '../model/inert';
import { pathText } from './changes';
import { NotebookRestores } from './notebookrestores';
import type { IServices } from './services';
import { ServicesContext } from './services';

/**
 * What the person chose.
 */
export interface IRestoreChoice {
  /** Paths to be restored although somebody else changed them. */
  force: string[];
  /** Whether cells are to be run again. */
  replay: boolean;
}

interface IBodyProps {
  services: IServices;
  preview: IRestorePreview;
  rewind: boolean;
  onForce: (path: string, ticked: boolean) => void;
  onReplay: (ticked: boolean) => void;
}

/**
 * Show what an undo or a rewind would do, and ask whether to do it.
 *
 * @returns The choice; null for no.
 */
export async function askToRestore(
  services: IServices,
  preview: IRestorePreview,
  rewind: boolean
): Promise<IRestoreChoice | null> {
  const { trans } = services;
  const cancel = Dialog.cancelButton({ label: trans.__('Cancel') });
  const go = Dialog.warnButton({
    label: rewind ? trans.__('Rewind') : trans.__('Undo')
  });
  const useful =
    rewind ||
    preview.changes.length > 0 ||
    preview.notebooks.some(({ cells = [] }) => cells.length > 0);
  const answer = await showDialog({
    title: rewind ? trans.__('Rewind to here') : trans.__('Undo this turn'),
    body: new RestoreBody(services, preview, rewind),
    buttons: useful ? [cancel, go] : [cancel],
    defaultButton: 0
  });
  return answer.button.accept ? answer.value : null;
}

class RestoreBody
  extends ReactWidget
  implements Dialog.IBodyWidget<IRestoreChoice>
{
  constructor(
    private readonly _services: IServices,
    private readonly _preview: IRestorePreview,
    private readonly _rewind: boolean
  ) {
    super();
  }

  getValue(): IRestoreChoice {
    return { force: [...this._force], replay: this._replay };
  }

  override render(): JSX.Element {
    return (
      <Body
        services={this._services}
        preview={this._preview}
        rewind={this._rewind}
        onForce={(path, ticked) => {
          if (ticked) {
            this._force.add(path);
          } else {
            this._force.delete(path);
          }
        }}
        onReplay={ticked => {
          this._replay = ticked;
        }}
      />
    );
  }

  private readonly _force = new Set<string>();
  private _replay = false;
}

function Body(props: IBodyProps): JSX.Element {
  const { services, preview, rewind, onForce, onReplay } = props;
  const { trans } = services;
  const conflicts = preview.changes.filter(change => change.conflict);
  const others = preview.changes.filter(change => !change.conflict);
  const more = preview.total - preview.changes.length;
  return (
    <div className="jp-OpenHands-restore">
      {preview.notebooks.length > 0 && (
        <ServicesContext.Provider value={services}>
          <p>
            {trans.__(
              'In notebooks, only what the agent changed goes back; what you wrote since stays:'
            )}
          </p>
          <NotebookRestores notebooks={preview.notebooks} />
        </ServicesContext.Provider>
      )}
      <p>
        {others.length + more > 0
          ? trans.__('These files go back to what they were before:')
          : trans.__('No file goes back to what it was before.')}
      </p>
      <Paths trans={trans} changes={others} more={more} />
      {preview.uncertain && (
        <p>
          {trans.__(
            'The server ended during this turn, so what the agent changed last is shown as changed by somebody else.'
          )}
        </p>
      )}
      {conflicts.length > 0 && (
        <fieldset>
          <legend>
            {trans.__(
              'Changed by you or others too, and left as they are unless ticked:'
            )}
          </legend>
          {conflicts.map(change => (
            <Tick
              key={change.path}
              label={`${pathText(change)} (${fateText(trans, change)})`}
              reason={change.conflict}
              onChange={ticked => onForce(change.path, ticked)}
            />
          ))}
        </fieldset>
      )}
      {preview.others.length > 0 && (
        <>
          <p>{trans.__('Another session changed these, and they stay:')}</p>
          <ul tabIndex={0} aria-label={trans.__('Files that stay')}>
            {preview.others.map(path => (
              <li key={path}>
                <code>{revealOnOneLine(path)}</code>
              </li>
            ))}
          </ul>
        </>
      )}
      {preview.failed.length > 0 && (
        <>
          <p>{trans.__('These cannot be restored:')}</p>
          <ul>
            {preview.failed.map(change => (
              <li key={change.path}>
                {revealOnOneLine(change.path)}: {change.conflict}
              </li>
            ))}
          </ul>
        </>
      )}
      {rewind && preview.cells > 0 && (
        <Tick
          label={trans._n(
            'Run %1 earlier cell again in the new kernel; cells that write files do so again',
            'Run the %1 earlier cells again in the new kernel; cells that write files do so again',
            preview.cells
          )}
          onChange={onReplay}
        />
      )}
      <p className="jp-OpenHands-quiet">
        {rewind
          ? trans.__(
              'What runs is stopped, and the kernel and the shell start anew: their variables and processes are gone. What went over the network is not undone.'
            )
          : trans.__(
              'Only files and cells of notebooks go back. Processes, variables in the kernel and what went over the network are not undone.'
            )}{' '}
        {trans.__('What there is now is kept: this can be undone.')}
      </p>
    </div>
  );
}

function Paths(props: {
  trans: TranslationBundle;
  changes: IFileChange[];
  more: number;
}): JSX.Element | null {
  const { trans, changes, more } = props;
  if (changes.length === 0 && more <= 0) {
    return null;
  }
  return (
    <ul tabIndex={0} aria-label={trans.__('Files')}>
      {changes.map(change => (
        <li key={change.path}>
          <code>{pathText(change)}</code>{' '}
          <span className="jp-OpenHands-quiet">{fateText(trans, change)}</span>
        </li>
      ))}
      {more > 0 && <li>{trans.__('and %1 more', more)}</li>}
    </ul>
  );
}

function Tick(props: {
  label: string;
  reason?: string;
  onChange: (ticked: boolean) => void;
}): JSX.Element {
  const [ticked, setTicked] = useState(false);
  return (
    <label className="jp-OpenHands-tick">
      <input
        type="checkbox"
        checked={ticked}
        onChange={event => {
          setTicked(event.target.checked);
          props.onChange(event.target.checked);
        }}
      />
      <span>
        {props.label} <span className="jp-OpenHands-quiet">{props.reason}</span>
      </span>
    </label>
  );
}

/**
 * What becomes of a path that goes back; the change leads from now to then.
 */
function fateText(trans: TranslationBundle, change: IFileChange): string {
  switch (change.kind) {
    case 'added':
      return trans.__('comes back');
    case 'deleted':
      return trans.__('is removed');
    case 'modified':
    case 'link':
    case 'type':
      return trans.__('is changed back');
    case 'mode':
      return trans.__('gets its permissions back');
  }
}
