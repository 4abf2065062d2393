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
  showCell: 'openhands:show-cell'
} as const;
