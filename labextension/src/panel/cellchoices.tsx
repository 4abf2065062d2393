import { useId, useState } from 'react';
import {
  groupOf,
  groupsOf,
  isEditable,
  withGroup,
  withSource
} from '../model/cellchoice';
import type { ICellChoice } from '../model/cellchoice';
import type { CellEdit, NotebookEditAction } from '../model/events';
import { cellEditText } from '../model/notebooktexts';
import { CellBody, CellHead, languageOf, Why } from './celledits';
import { useServices } from './services';
import { SourceEditor } from './sourceeditor';

interface IChoicesProps {
  edit: NotebookEditAction;
  choice: ICellChoice;
  disabled: boolean;
  onChoose: (choice: ICellChoice) => void;
}

/**
 * The cells of an edit, of which a person chooses those that are to be done.
 */
export function CellChoices(props: IChoicesProps): JSX.Element {
  const { trans } = useServices();
  return (
    <>
      {props.edit.why && <Why text={props.edit.why} />}
      <ul className="jp-OpenHands-cells" aria-label={trans.__('Cells')}>
        {groupsOf(props.edit.cells ?? []).map(group => (
          <li key={groupOf(group[0])}>
            <Group {...props} group={group} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Group(props: IChoicesProps & { group: CellEdit[] }): JSX.Element {
  const { group, choice, disabled, onChoose } = props;
  const { trans } = useServices();
  const number = groupOf(group[0]);
  const wanted = !choice.refused.has(number);
  const checkbox = (text: string): JSX.Element => (
    <label className="jp-OpenHands-cellWanted">
      <input
        type="checkbox"
        checked={wanted}
        disabled={disabled}
        onChange={event =>
          onChoose(withGroup(choice, number, event.target.checked))
        }
      />
      {text}
    </label>
  );
  if (group.length === 1) {
    return (
      <Choice
        {...props}
        cell={group[0]}
        wanted={wanted}
        title={checkbox(cellEditText(trans, group[0]))}
      />
    );
  }
  return (
    <div className="jp-OpenHands-cellGroup">
      {checkbox(trans.__('%1 cells, only together:', group.length))}
      <ul className="jp-OpenHands-cells">
        {group.map(cell => (
          <li key={cell.id}>
            <Choice
              {...props}
              cell={cell}
              wanted={wanted}
              title={<span>{cellEditText(trans, cell)}</span>}
            />
          </li>
        ))}
      </ul>
    </div>
  );
}

/**
 * One cell of the edit, whose new source the person can write anew.
 */
function Choice(
  props: IChoicesProps & { cell: CellEdit; wanted: boolean; title: JSX.Element }
): JSX.Element {
  const { edit, choice, disabled, cell, wanted, title, onChoose } = props;
  const { trans } = useServices();
  const [editing, setEditing] = useState(false);
  const text = useId();
  const own = choice.sources.get(cell.id);
  const source = own ?? cell.after ?? '';
  return (
    <div className={wanted ? undefined : 'jp-mod-refused'}>
      <CellHead path={edit.path} cell={cell} title={title}>
        {!wanted && <span>{trans.__('rejected')}</span>}
        {wanted && own !== undefined && <span>{trans.__('your text')}</span>}
        {wanted && own !== undefined && (
          <button
            type="button"
            className="jp-OpenHands-textButton"
            disabled={disabled}
            onClick={() => {
              setEditing(false);
              onChoose(withSource(choice, cell, cell.after ?? ''));
            }}
          >
            {trans.__('Use the agent’s')}
          </button>
        )}
        {wanted && isEditable(cell) && (
          <button
            type="button"
            className="jp-OpenHands-textButton"
            aria-expanded={editing}
            aria-controls={text}
            disabled={disabled}
            onClick={() => setEditing(!editing)}
          >
            {editing ? trans.__('Done') : trans.__('Edit')}
          </button>
        )}
      </CellHead>
      <div id={text}>
        {wanted && editing ? (
          <SourceEditor
            text={source}
            language={languageOf(cell)}
            label={trans.__('Your text: %1', cellEditText(trans, cell))}
            onChange={changed => onChoose(withSource(choice, cell, changed))}
          />
        ) : (
          wanted && (
            <CellBody
              cell={cell}
              source={source}
              name={cellEditText(trans, cell)}
            />
          )
        )}
      </div>
    </div>
  );
}
