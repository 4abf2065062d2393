import type { TranslationBundle } from '@jupyterlab/translation';
import type { SkillInfo, SkillObservation, SkillsObservation } from './events';
import { revealOnOneLine } from './inert';

/**
 * Say which instructions the agent was given, and why.
 */
export function givenSkillText(
  trans: TranslationBundle,
  event: SkillObservation
): string {
  const file = skillPathText(trans, event);
  const trigger = revealOnOneLine(event.trigger ?? '');
  switch (event.reason) {
    case 'always':
      return trans.__('Instructions: %1', file);
    case 'word':
      return trans.__(
        'Instructions: %1, for “%2” in your message',
        file,
        trigger
      );
    case 'command':
      return trans.__('Instructions: %1, for your %2', file, trigger);
    case 'path':
      return trans.__('Instructions: %1, for work in %2', file, trigger);
    case 'asked':
      return trans.__('Instructions: %1, asked for by the agent', file);
  }
}

/**
 * Say how many skills the agent was told of, and what was left out.
 */
export function foundSkillsText(
  trans: TranslationBundle,
  event: SkillsObservation
): string {
  const found = event.skills?.length ?? 0;
  const wrong = event.problems?.length ?? 0;
  const skills = trans._n('%1 skill to ask for', '%1 skills to ask for', found);
  const problems = trans._n(
    '%1 file of instructions left out',
    '%1 files of instructions left out',
    wrong
  );
  if (!wrong) {
    return skills;
  }
  return found ? `${skills}, ${problems}` : problems;
}

/**
 * A file of instructions, and whose it is.
 */
export function skillPathText(
  trans: TranslationBundle,
  skill: SkillInfo | SkillObservation
): string {
  const path = revealOnOneLine(skill.path ?? '');
  return skill.origin === 'person'
    ? trans.__('%1 (your own)', path)
    : trans.__('%1 (of the workspace)', path);
}
