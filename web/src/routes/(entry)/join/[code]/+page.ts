// The door of a room speaks of rooms: it needs more words than the other pages before the app.
import { haveWords } from '$lib/i18n/index.svelte';
import type { PageLoad } from './$types';

export const load: PageLoad = () => haveWords('door');
