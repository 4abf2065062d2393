import { LabIcon } from '@jupyterlab/ui-components';
import openHandsSvg from '../style/icons/openhands.svg';

/**
 * The icon of the panel and its commands.
 */
export const openHandsIcon = new LabIcon({
  name: 'openhands-jupyter:openhands',
  svgstr: openHandsSvg
});
