import js from '@eslint/js';
import jupyter from '@jupyter/eslint-plugin';
import prettier from 'eslint-config-prettier';
import hooks from 'eslint-plugin-react-hooks';
import globals from 'globals';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['lib/', 'coverage/', 'node_modules/', 'src/model/events.ts'] },
  js.configs.recommended,
  ...jupyter.configs.recommended,
  {
    files: ['src/**/*.{ts,tsx}'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: {
      parserOptions: {
        project: './tsconfig.test.json',
        tsconfigRootDir: import.meta.dirname
      }
    },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/explicit-function-return-type': [
        'error',
        { allowExpressions: true }
      ],
      '@typescript-eslint/naming-convention': [
        'error',
        {
          selector: 'interface',
          format: ['PascalCase'],
          custom: { regex: '^I[A-Z]', match: true }
        }
      ],
      '@typescript-eslint/no-floating-promises': [
        'error',
        { ignoreVoid: true }
      ],
      '@typescript-eslint/no-misused-promises': [
        'error',
        { checksVoidReturn: { attributes: false } }
      ],
      eqeqeq: 'error'
    }
  },
  { files: ['src/**/*.{ts,tsx}'], ...hooks.configs.flat.recommended },
  {
    files: ['src/**/*.{ts,tsx}'],
    // It fires on every virtual list, and the React compiler is not used.
    rules: { 'react-hooks/incompatible-library': 'off' }
  },
  {
    files: ['src/**/__tests__/**'],
    rules: { 'jupyter/no-untranslated-string': 'off' }
  },
  {
    files: ['*.js', 'scripts/*.mjs', 'style/*.js'],
    languageOptions: { globals: globals.node }
  },
  prettier
);
