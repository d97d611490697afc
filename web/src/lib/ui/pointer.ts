// What people point with: where there is only a finger, nobody is asked to drop anything.
import { MediaQuery } from 'svelte/reactivity';

/** Whether files can be dragged here from elsewhere. */
export const canDrag = new MediaQuery('hover: hover');
