// The way in leads to what people come for.
import { redirect } from '@sveltejs/kit';

export const load = () => redirect(307, '/shelf');
