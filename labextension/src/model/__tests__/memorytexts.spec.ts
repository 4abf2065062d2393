import { condensationText, quarantineText } from '../memorytexts';
import { trans } from './translation';

const TOKENS = { tokens_before: 30000, tokens_after: 9000 };

it.each([
  [
    { condenser: 'llm', forgotten_start: 1, forgotten_end: 9, summary: 'x' },
    'The model goes on with a summary of older steps: about 30,000 tokens became 9,000'
  ],
  [
    { condenser: 'conversation_window', forgotten_start: 1, forgotten_end: 9 },
    'The model is no longer shown older steps: about 30,000 tokens became 9,000'
  ],
  [
    { condenser: 'observation_masking', masked: [3, 5] },
    'The model is no longer shown 2 old results: about 30,000 tokens became 9,000'
  ]
])('says what %j left out', (event, text) => {
  expect(
    condensationText(trans, {
      type: 'CondensationAction',
      reason: 'tokens',
      ...TOKENS,
      ...event
    })
  ).toBe(text);
});

it.each([
  [[3], false, 'without a step that its provider did not accept'],
  [[3, 7], false, 'without 2 steps that its provider did not accept'],
  [[3], true, 'without images that its provider did not accept']
])('says what was refused', (items, only_images, text) => {
  const event = { type: 'QuarantineAction', items, only_images } as const;
  expect(quarantineText(trans, { ...event, items: [...items] })).toContain(
    text
  );
});
