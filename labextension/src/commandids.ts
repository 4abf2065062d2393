/**
 * The commands of the panel.
 */
export const CommandIDs = {
  open: 'openhands:open',
  newSession: 'openhands:new-session',
  stop: 'openhands:stop',
  console: 'openhands:open-console',
  openSession: 'openhands:open-session',
  settings: 'openhands:settings',
  showCell: 'openhands:show-cell',
  insertCode: 'openhands:insert-code',
  askCell: 'openhands:ask-cell',
  fixCell: 'openhands:fix-cell',
  acceptCells: 'openhands:accept-cells',
  acceptNotebook: 'openhands:accept-notebook',
  removeProvenance: 'openhands:remove-provenance'
} as const;
