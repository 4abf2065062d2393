import type { PartialJSONObject } from '@lumino/coreutils';
import { useEffect, useState } from 'react';
import type { Blob as StoredBlob, Output } from '../model/events';
import { isRecord } from '../model/records';
import { problemText } from '../model/texts';
import { Mime, TerminalText } from './mime';
import { useServices } from './services';

const SVG = 'image/svg+xml';

/**
 * What is drawn. Others, such as charts that are drawn in the browser, may fetch from any address,
 * and with that carry out of the sandbox what the code has seen.
 */
const SHOWN: readonly string[] = [
  SVG,
  'application/json',
  'image/bmp',
  'image/gif',
  'image/jpeg',
  'image/png',
  'image/webp',
  'text/html',
  'text/latex',
  'text/markdown',
  'text/plain'
];

const STDERR = 'application/vnd.jupyter.stderr';

interface IOutputsProps {
  session: string;
  outputs: readonly Output[];
}

/**
 * What a cell printed, displayed and raised.
 */
export function Outputs({ session, outputs }: IOutputsProps): JSX.Element {
  return (
    <div className="jp-OpenHands-outputs">
      {outputs.map((output, index) => (
        <OneOutput key={index} session={session} output={output} />
      ))}
    </div>
  );
}

function OneOutput(props: { session: string; output: Output }): JSX.Element {
  const { session, output } = props;
  if (output.kind === 'stream') {
    const text = textOf(output.text);
    return output.name === 'stderr' ? (
      <Mime mimeType={STDERR} data={text} />
    ) : (
      <TerminalText text={text} />
    );
  }
  if (output.kind === 'error') {
    const text = textOf(output.text) || `${output.ename}: ${output.evalue}`;
    return <Mime mimeType={STDERR} data={text} />;
  }
  return <Bundle session={session} output={output} />;
}

function Bundle(props: { session: string; output: Output }): JSX.Element {
  const { session, output } = props;
  const { rendermime, trans } = useServices();
  const all = (output.data ?? {}) as PartialJSONObject;
  const data = Object.fromEntries(
    Object.entries(all).filter(([name]) => SHOWN.includes(name))
  );
  const mimeType = SVG in data ? SVG : rendermime.preferredMimeType(data);
  if (mimeType === undefined) {
    return (
      <p className="jp-OpenHands-quiet">
        {trans.__(
          'Output of a kind that cannot be shown here: %1',
          Object.keys(all).join(', ')
        )}
      </p>
    );
  }
  const metadata = (output.metadata ?? {}) as PartialJSONObject;
  const value: unknown = data[mimeType];
  if (isBlob(value)) {
    return (
      <Stored
        session={session}
        blob={value}
        mimeType={mimeType}
        metadata={metadata}
      />
    );
  }
  return (
    <Content
      mimeType={mimeType}
      data={value as PartialJSONObject[string]}
      metadata={metadata}
    />
  );
}

interface IContentProps {
  mimeType: string;
  data: PartialJSONObject[string];
  metadata: PartialJSONObject;
}

function Content({ mimeType, data, metadata }: IContentProps): JSX.Element {
  const { trans } = useServices();
  if (mimeType === SVG) {
    // As an image, SVG runs no scripts and fetches nothing.
    const source = `data:${SVG};charset=utf-8,${encodeURIComponent(typeof data === 'string' ? data : '')}`;
    return (
      <img
        className="jp-OpenHands-svg"
        alt={trans.__('Image made by the code')}
        src={source}
      />
    );
  }
  return <Mime mimeType={mimeType} data={data} metadata={metadata} />;
}

interface IStoredProps {
  session: string;
  blob: StoredBlob;
  mimeType: string;
  metadata: PartialJSONObject;
}

/**
 * Content that is kept beside the log and fetched when it is shown.
 */
function Stored(props: IStoredProps): JSX.Element {
  const { session, blob, mimeType, metadata } = props;
  const { model, trans } = useServices();
  const [data, setData] = useState<string | null>(null);
  const [problem, setProblem] = useState('');

  useEffect(() => {
    let current = true;
    const fetchContent = async (): Promise<void> => {
      try {
        const content = await model.client.blob(session, blob.sha256);
        const text = await (isText(mimeType)
          ? content.text()
          : base64(content));
        if (current) {
          setData(text);
        }
      } catch (error) {
        if (current) {
          setProblem(problemText(trans, error).message);
        }
      }
    };
    void fetchContent();
    return () => {
      current = false;
    };
  }, [model, trans, session, blob.sha256, mimeType]);

  if (problem) {
    return <p className="jp-OpenHands-error">{problem}</p>;
  }
  if (data === null) {
    return <p className="jp-OpenHands-quiet">{trans.__('Loading…')}</p>;
  }
  return <Content mimeType={mimeType} data={data} metadata={metadata} />;
}

/**
 * The text itself, or the preview of one that is kept beside the log.
 */
export function textOf(text: string | StoredBlob | null | undefined): string {
  return typeof text === 'string' ? text : (text?.preview ?? '');
}

function isBlob(value: unknown): value is StoredBlob {
  return (
    isRecord(value) && value.type === 'Blob' && typeof value.sha256 === 'string'
  );
}

function isText(mimeType: string): boolean {
  return !mimeType.startsWith('image/') || mimeType === SVG;
}

async function base64(content: Blob): Promise<string> {
  const bytes = new Uint8Array(await content.arrayBuffer());
  let binary = '';
  for (let i = 0; i < bytes.length; i += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  }
  return btoa(binary);
}
