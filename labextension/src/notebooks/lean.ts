import { isRecord } from '../model/records';

type Json = Record<string, unknown>;

/**
 * Characters of each text of an output; they tell a table from other HTML.
 */
const BEGINNING = 200;

/**
 * A cell with outputs and attachments of which only is told what they are, as `lean.py` has it:
 * they may be many megabytes, which whoever asks for the cells does not need.
 */
export function lean(cell: Json): Json {
  const { attachments, outputs } = cell;
  return {
    ...cell,
    ...(Array.isArray(outputs) && {
      outputs: outputs.filter(isRecord).map(leanOutput)
    }),
    ...(isRecord(attachments) && {
      attachments: mapped(attachments, () => ({}))
    })
  };
}

/**
 * The metadata of a notebook without the state of its widgets.
 */
export function leanMetadata(metadata: Json): Json {
  return Object.fromEntries(
    Object.entries(metadata).filter(([key]) => key !== 'widgets')
  );
}

function leanOutput(output: Json): Json {
  return mapped(output, (value, key) => {
    switch (key) {
      case 'data':
        return isRecord(value) ? mapped(value, beginning) : beginning(value);
      case 'traceback':
        return [];
      case 'metadata':
        return {};
      default:
        return beginning(value);
    }
  });
}

function beginning(value: unknown): unknown {
  if (value === null || ['number', 'boolean'].includes(typeof value)) {
    return value;
  }
  const text = Array.isArray(value) ? value.join('') : value;
  return typeof text === 'string' ? text.slice(0, BEGINNING) : '';
}

function mapped(
  record: Json,
  change: (value: unknown, key: string) => unknown
): Json {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [key, change(value, key)])
  );
}
