import type { ISettings } from './client';
import type {
  IsolationObservation,
  NetworkAccessAction,
  NetworkRefusedObservation
} from './events';
import type { INetworkInfo } from './frames';

/**
 * A host and a port.
 */
export type IPlace = Pick<NetworkRefusedObservation, 'host' | 'port'>;

export type Access = NetworkAccessAction['access'];

/**
 * The settings of the network that a person may change.
 */
export type NetworkSetting =
  | 'network'
  | 'network_presets'
  | 'network_rules'
  | 'pip_index'
  | 'npm_registry'
  | 'conda_channels'
  | 'ca_bundle';

/**
 * Those of them that are lists; a form holds them as text, one entry a line.
 */
export const LISTS: readonly string[] = ['network_presets', 'network_rules'];

/**
 * A place as people write it; the server writes it so too.
 */
export function placeText({ host, port }: IPlace): string {
  return port === 443 ? host : `${host}:${port}`;
}

/**
 * Whether a person can allow a place that was refused because it is not listed.
 */
export function canAllow(network: INetworkInfo | null, place: IPlace): boolean {
  return (
    network !== null &&
    !network.fixed &&
    !network.places.includes(placeText(place))
  );
}

/**
 * Whether a sandbox has no network, and the one that takes its place will have one.
 */
export function awaitsNetwork(
  settings: ISettings | null,
  { backend, network }: Pick<IsolationObservation, 'backend' | 'network'>
): boolean {
  return (
    settings?.settings.network?.value === 'allow-list' &&
    (network ?? null) === null &&
    // The others have none that could be guarded.
    ['bubblewrap', 'docker'].includes(backend)
  );
}

/**
 * The entries of a text with one entry a line; commas and spaces part them too.
 */
export function entriesOf(text: string): string[] {
  return text.split(/[\s,]+/).filter(entry => entry !== '');
}

/**
 * A text of entries with one of them in it, or no longer.
 */
export function withEntry(text: string, entry: string, is: boolean): string {
  const others = entriesOf(text).filter(other => other !== entry);
  return (is ? [...others, entry] : others).join('\n');
}
