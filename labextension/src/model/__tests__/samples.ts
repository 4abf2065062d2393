import type { ISecret } from '../client';
import type {
  Event,
  NetworkAccessAction,
  NetworkRefusedObservation
} from '../events';
import { parseEvents } from '../frames';
import type { AnyEvent, ISessionInfo } from '../frames';

/**
 * A session as the server describes it.
 */
export function sessionInfo(change: Partial<ISessionInfo> = {}): ISessionInfo {
  return {
    id: 'a',
    title: 'A session',
    created: '2026-11-29T16:00:00Z',
    updated: '2026-11-29T16:00:00Z',
    state: 'running',
    mode: 'agent',
    model: 'tour',
    agent: 'codeact',
    delegates: [],
    workspace: '/w',
    steps: 0,
    step_limit: 100,
    limits: [],
    stuck: null,
    last_id: -1,
    isolation: null,
    pending: null,
    command_running: false,
    cells_running: false,
    plan: [],
    secrets: [],
    network: null,
    kernel: null,
    asleep: false,
    ...change
  };
}

/**
 * Events with the ids that follow each other from `first`.
 */
export function log(first: number, ...events: object[]): AnyEvent[] {
  return parseEvents(
    events.map((event, index) => ({ ...event, id: first + index }))
  );
}

export const userMessage = (content: string): Event => ({
  type: 'UserMessageAction',
  source: 'user',
  content
});

export const agentMessage = (content: string, cause = 0): Event => ({
  type: 'AgentMessageAction',
  source: 'agent',
  cause,
  content
});

export const command = (text: string, cause = 0): Event => ({
  type: 'CmdRunAction',
  source: 'agent',
  cause,
  command: text
});

export const output = (cause: number, content = ''): Event => ({
  type: 'CmdOutputObservation',
  cause,
  content,
  exit_code: 0
});

export const refusal = (
  host: string,
  cause = 0,
  reason: NetworkRefusedObservation['reason'] = 'not_listed'
): Event => ({
  type: 'NetworkRefusedObservation',
  cause,
  host,
  port: 443,
  reason
});

export const access = (
  host: string,
  change: NetworkAccessAction['access']
): Event => ({
  type: 'NetworkAccessAction',
  source: 'user',
  host,
  port: 443,
  access: change
});

export const state = (
  entered: 'running' | 'finished' | 'stopped' | 'awaiting_user_confirmation'
): Event => ({ type: 'AgentStateChangedObservation', state: entered });

/**
 * A secret that is kept in the panel, and may be allowed into a sandbox.
 */
export function secret(change: Partial<ISecret>): ISecret {
  return {
    name: 'TOKEN',
    origin: 'panel',
    for_sandbox: true,
    why_not: '',
    ...change
  };
}
