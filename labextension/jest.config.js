const labConfig = require('@jupyterlab/testutils/lib/jest-config');

// These packages ship ES modules only, so Jest has to transform them.
const esModules = [
  '@codemirror',
  '@jupyter/',
  '@jupyterlab/',
  '@microsoft/fast',
  '@tanstack',
  'exenv-es6',
  'lib0',
  'nanoid',
  'vscode-ws-jsonrpc',
  'y-protocols',
  'y-websocket',
  'yjs'
].join('|');

const { moduleNameMapper, setupFiles, testEnvironment, transform } =
  labConfig(__dirname);

module.exports = {
  moduleNameMapper,
  setupFiles,
  testEnvironment,
  transform: {
    ...transform,
    '\\.py$': '@jupyterlab/testing/lib/jest-raw-loader.js'
  },
  testMatch: ['<rootDir>/src/**/__tests__/*.spec.ts'],
  transformIgnorePatterns: [`/node_modules/(?!${esModules}).+`]
};
