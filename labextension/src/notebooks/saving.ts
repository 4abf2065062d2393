import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { INotebookModel } from '@jupyterlab/notebook';
import type { Contents } from '@jupyterlab/services';
import { Refusal } from './frames';

type Context = DocumentRegistry.IContext<INotebookModel>;

/**
 * Milliseconds that whoever shares a notebook has to save it; less than the server waits for it.
 */
const SAVED_WITHIN = 30_000;

/**
 * Milliseconds after which it is asked again: its answer is lost when its connection breaks.
 */
const ASKED_AGAIN_AFTER = 10_000;

/**
 * Milliseconds in which it is heard that all is saved; what saves without an answer takes a second.
 */
const HEARD_WITHIN = 2_000;

/**
 * Save a notebook that is in a file; it does not ask the person, for nobody may be there.
 */
export async function saveFile(
  context: Context,
  contents: Contents.IManager
): Promise<void> {
  const { contentsModel } = context;
  if (contentsModel) {
    // JupyterLab would ask with a dialog.
    const options = { content: false, hash: true };
    const file = await contents.get(context.path, options).catch(() => {
      throw new Refusal('changed_on_disk', 'The file is not there any more.');
    });
    if (
      contentsModel.hash && file.hash
        ? contentsModel.hash !== file.hash
        : contentsModel.last_modified !== file.last_modified
    ) {
      throw new Refusal('changed_on_disk', 'The file is another one now.');
    }
  }
  await context.save();
}

/**
 * Have a notebook saved by whoever shares it, who alone writes its file.
 *
 * It is not saved by its context, which takes the file for somebody else's when it was saved a
 * moment ago and this is not known here yet, and asks the person with a dialog. And an answer
 * counts only once nothing is unsaved any more: it comes too when the saving was put off.
 *
 * @param context The notebook.
 *
 * @param contents Where notebooks are saved.
 *
 * @param provider Who provides the contents of shared notebooks.
 */
export async function saveShared(
  context: Context,
  contents: Contents.IManager,
  provider: string | undefined
): Promise<void> {
  const { model } = context;
  const deadline = Date.now() + SAVED_WITHIN;
  let problem: unknown = 'it does not say why';
  while (Date.now() < deadline && !context.isDisposed) {
    const asked = contents
      .save(context.path, {
        type: 'notebook',
        format: 'json',
        content: model.toJSON(),
        contentProviderId: provider
      })
      .catch((error: unknown) => {
        problem = error;
      });
    await Promise.race([asked, pause(ASKED_AGAIN_AFTER)]);
    if (await isSaved(model)) {
      return;
    }
  }
  throw context.isDisposed
    ? new Refusal('not_open', 'This notebook was closed.')
    : new Refusal('not_saved', String(problem));
}

/**
 * Whether nothing is unsaved, or soon is not any more.
 */
async function isSaved(model: INotebookModel): Promise<boolean> {
  if (model.dirty) {
    await new Promise<void>(resolve => {
      const look = (): void => {
        if (!model.dirty) {
          resolve();
        }
      };
      model.stateChanged.connect(look);
      setTimeout(() => {
        model.stateChanged.disconnect(look);
        resolve();
      }, HEARD_WITHIN);
    });
  }
  return !model.dirty;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, milliseconds));
}
