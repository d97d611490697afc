// What the error page says when a page could not be loaded: a problem's own sentence, if it is one.
import type { HandleClientError } from '@sveltejs/kit';
import { Problem } from '$lib/api/problems';
import { t } from '$lib/i18n/index.svelte';

export const handleError: HandleClientError = ({ error, status, message }) => {
  if (error instanceof Problem) return { message: error.sentence };
  if (status < 500) return { message };
  // eslint-disable-next-line no-console -- a fault of ours, for whoever looks after it
  console.error(error);
  return { message: t('error.broken.about') };
};
