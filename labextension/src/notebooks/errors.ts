/**
 * The outputs of a cell as far as it matters here.
 */
export interface IOutputs {
  readonly length: number;
  get(index: number): { readonly type: string; toJSON(): unknown };
}

/**
 * Where the last error stands among the outputs of a cell; -1 where there is none.
 *
 * It need not be the last output: Matplotlib shows its pictures after it.
 */
export function indexOfError(outputs: IOutputs): number {
  for (let index = outputs.length - 1; index >= 0; index--) {
    if (outputs.get(index).type === 'error') {
      return index;
    }
  }
  return -1;
}

/**
 * Whether a cell, given its model, shows an error.
 */
export function showsError(model: object | undefined): boolean {
  const outputs = model && 'outputs' in model && (model.outputs as IOutputs);
  return !!outputs && indexOfError(outputs) >= 0;
}
