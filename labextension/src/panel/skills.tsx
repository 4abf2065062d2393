import type { SkillObservation, SkillsObservation } from '../model/events';
import { revealHidden, revealOnOneLine } from '../model/inert';
import {
  foundSkillsText,
  givenSkillText,
  skillPathText
} from '../model/skilltexts';
import { Fold } from './fold';
import { useServices } from './services';

/**
 * Which instructions the agent was given; their text when it is opened.
 */
export function GivenSkill(props: { event: SkillObservation }): JSX.Element {
  const { trans } = useServices();
  return (
    <Fold summary={givenSkillText(trans, props.event)} className="jp-mod-note">
      <p className="jp-OpenHands-userText">
        {revealHidden(props.event.content ?? '')}
      </p>
    </Fold>
  );
}

/**
 * Which skills the agent can ask for, and which files are left out and why.
 */
export function FoundSkills(props: { event: SkillsObservation }): JSX.Element {
  const { trans } = useServices();
  const { problems = [], skills = [] } = props.event;
  return (
    <Fold
      summary={foundSkillsText(trans, props.event)}
      className={`jp-mod-note ${problems.length > 0 ? 'jp-mod-amber' : ''}`}
    >
      <ul>
        {problems.map(problem => (
          <li key={problem}>{revealOnOneLine(problem)}</li>
        ))}
        {skills.map(skill => (
          <li key={`${skill.origin}:${skill.name}`}>
            <strong>{revealOnOneLine(skill.name)}</strong>:{' '}
            {revealOnOneLine(skill.description ?? '')}{' '}
            <span className="jp-OpenHands-quiet">
              {skillPathText(trans, skill)}
            </span>
          </li>
        ))}
      </ul>
    </Fold>
  );
}
