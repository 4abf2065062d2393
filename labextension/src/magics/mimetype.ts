/**
 * The type of output that tasks and requests of the kernel are shown as; as in the kernel's magics.
 */
export const MIME_TYPE = 'application/vnd.openhands+json';
