import type { GatewaySetting, ISettings, SettingsChange } from './client';
import { NUMBERS } from './environment';
import type { EnvironmentSetting } from './environment';
import { LIMIT_SETTINGS } from './limits';
import type { LimitSetting } from './limits';
import { MODEL_NUMBERS } from './modelsettings';
import type { ModelSetting } from './modelsettings';
import { entriesOf, LISTS } from './network';
import type { NetworkSetting } from './network';

/**
 * The settings of the way that sandboxes are isolated.
 */
export type IsolationSetting = 'isolation' | 'docker_image' | GatewaySetting;

/**
 * A setting that a person may change in the panel.
 */
export type SettingName =
  | 'model'
  | 'base_url'
  | ModelSetting
  | 'mode'
  | 'agent'
  | LimitSetting
  | 'stuck_detection'
  | IsolationSetting
  | EnvironmentSetting
  | NetworkSetting;

/**
 * What was typed and is not saved yet; null to take back what the panel has set.
 */
export type SettingsDraft = Readonly<
  Partial<Record<SettingName, string | null>>
>;

/**
 * What stands in the field of a setting; of a list one entry a line.
 */
export function textOf(
  settings: ISettings,
  draft: SettingsDraft,
  name: SettingName
): string {
  const changed = draft[name];
  const stored = settings.settings[name]?.value;
  const text = Array.isArray(stored) ? stored.join('\n') : stored;
  return changed ?? (changed === null ? '' : String(text ?? ''));
}

/**
 * What is asked of the server for what was typed.
 */
export function toChange(draft: SettingsDraft): SettingsChange {
  const change: SettingsChange = { ...draft };
  const lists = [...(LISTS as readonly NetworkSetting[]), 'fallback_models'];
  for (const name of lists as readonly (NetworkSetting | ModelSetting)[]) {
    const text = draft[name];
    if (typeof text === 'string') {
      change[name] = entriesOf(text);
    }
  }
  const numbers = [
    ...Object.values(LIMIT_SETTINGS),
    ...NUMBERS,
    ...MODEL_NUMBERS
  ] as const;
  for (const name of numbers) {
    const text = draft[name];
    if (typeof text === 'string') {
      change[name] = Number(text);
    }
  }
  if (draft.stuck_detection) {
    change.stuck_detection = draft.stuck_detection === 'true';
  }
  return change;
}
