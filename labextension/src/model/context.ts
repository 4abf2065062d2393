import type { TranslationBundle } from '@jupyterlab/translation';
import type { UserMessageAction, Variable } from './events';
import { revealHidden, revealOnOneLine } from './inert';

/**
 * What goes with a message of the notebooks that are open.
 */
export type ContextPart = NonNullable<UserMessageAction['context']>[number];

/**
 * What a person decides on as one: `others` are the notebooks behind other tabs.
 */
export type ContextKind = ContextPart['kind'] | 'others';

/**
 * Some parts of one kind, for a person to read.
 */
export interface IChip {
  kind: ContextKind;
  /** Inert text on one line. */
  label: string;
  /** All that is sent, as inert text. */
  whole: string;
}

const KINDS: readonly ContextKind[] = [
  'notebook',
  'others',
  'cell',
  'selection',
  'variables',
  'error'
];

export function kindOf(part: ContextPart): ContextKind {
  return part.kind === 'notebook' && !part.visible ? 'others' : part.kind;
}

/**
 * Parts as chips, one for each kind.
 */
export function chipsOf(
  trans: TranslationBundle,
  parts: readonly ContextPart[]
): IChip[] {
  return KINDS.flatMap(kind => {
    const found = parts.filter(part => kindOf(part) === kind);
    return found.length
      ? {
          kind,
          label: revealOnOneLine(label(trans, kind, found)),
          whole: revealHidden(found.map(part => whole(trans, part)).join('\n'))
        }
      : [];
  });
}

function label(
  trans: TranslationBundle,
  kind: ContextKind,
  parts: ContextPart[]
): string {
  const [part] = parts;
  switch (part.kind) {
    case 'notebook':
      return kind === 'others'
        ? trans._n('%1 other notebook', '%1 other notebooks', parts.length)
        : parts.length > 1
          ? trans._n('%1 notebook', '%1 notebooks', parts.length)
          : notebookText(trans, part, baseName(part.path));
    case 'cell': {
      const line = part.source.trim().split('\n', 1)[0];
      return line ? trans.__('Cell: %1', line) : trans.__('Cell: empty');
    }
    case 'selection': {
      const lines = part.last_line - part.first_line + 1;
      return trans._n('Selection: %1 line', 'Selection: %1 lines', lines);
    }
    case 'variables': {
      const all = part.variables.length + (part.left_out ?? 0);
      return trans._n('%1 variable', '%1 variables', all);
    }
    case 'error':
      return trans.__('Error: %1', part.ename);
  }
}

function whole(trans: TranslationBundle, part: ContextPart): string {
  switch (part.kind) {
    case 'notebook':
      return notebookText(trans, part, part.path);
    case 'cell':
    case 'selection':
      return 'source' in part ? part.source : part.text;
    case 'variables': {
      const lines = part.variables.map(variableText);
      return part.left_out
        ? [...lines, trans.__('… and %1 more', part.left_out)].join('\n')
        : lines.join('\n');
    }
    case 'error':
      return `${part.ename}: ${part.evalue}\n${part.traceback}`;
  }
}

function notebookText(
  trans: TranslationBundle,
  { dirty, kernel }: Extract<ContextPart, { kind: 'notebook' }>,
  name: string
): string {
  const state = kernel ? `${kernel.name} ${kernel.state}` : null;
  return [name, dirty ? trans.__('unsaved') : null, state]
    .filter(text => text !== null)
    .join(' · ');
}

function variableText({ name, type, shape, dtypes }: Variable): string {
  const size = shape ? `(${shape.join(', ')})` : '';
  return `${name}: ${type}${size} ${dtypes?.join(', ') ?? ''}`.trim();
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
