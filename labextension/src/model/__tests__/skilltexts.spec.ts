import type { SkillObservation } from '../events';
import { foundSkillsText, givenSkillText } from '../skilltexts';
import { Timeline } from '../timeline';
import { log, userMessage } from './samples';
import { trans } from './translation';

const given: SkillObservation = {
  type: 'SkillObservation',
  name: 'tables',
  origin: 'workspace',
  path: '.openhands/microagents/tables.md',
  reason: 'word',
  trigger: 'csv'
};

it.each([
  [
    {},
    'Instructions: .openhands/microagents/tables.md (of the workspace), for “csv” in your message'
  ],
  [
    { reason: 'always', path: 'AGENTS.md', origin: 'person' },
    'Instructions: AGENTS.md (your own)'
  ],
  [
    { reason: 'command', path: 'a.md', trigger: '/a' },
    'Instructions: a.md (of the workspace), for your /a'
  ],
  [
    { reason: 'path', path: 'x/AGENTS.md', trigger: 'x' },
    'Instructions: x/AGENTS.md (of the workspace), for work in x'
  ],
  [
    { reason: 'asked', path: 'a\u202e.md' },
    'Instructions: a⟨U+202E⟩.md (of the workspace), asked for by the agent'
  ]
])('says why %j was given', (change, text) => {
  expect(
    givenSkillText(trans, {
      ...given,
      ...(change as Partial<SkillObservation>)
    })
  ).toBe(text);
});

it.each([
  [2, 0, '2 skills to ask for'],
  [1, 1, '1 skill to ask for, 1 file of instructions left out'],
  [0, 2, '2 files of instructions left out']
])('counts %d skills and %d problems', (skills, problems, text) => {
  expect(
    foundSkillsText(trans, {
      type: 'SkillsObservation',
      skills: Array.from({ length: skills }, (_, n) => ({ name: `s${n}` })),
      problems: Array.from({ length: problems }, (_, n) => `p${n}`)
    })
  ).toBe(text);
});

it('has a row for what was found and for each text, none for the call', () => {
  const timeline = new Timeline();
  const found = { type: 'SkillsObservation', problems: ['a.md is left out.'] };
  const call = { type: 'UseSkillAction', source: 'agent', skill: 'tables' };
  timeline.append(
    log(0, userMessage('go'), found, call, {
      ...given,
      reason: 'asked',
      cause: 2
    })
  );
  expect(timeline.items.map(item => item.kind)).toEqual([
    'user',
    'skills',
    'skill'
  ]);
});
