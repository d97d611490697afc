// What a form misses, in the language of the app: the browser would say it in its own.
import { t } from '$lib/i18n/index.svelte';

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/** For all forms of a page; returns a function that ends it. */
export function sayFormProblems(): () => void {
  document.addEventListener('invalid', say, true);
  document.addEventListener('input', forget, true);
  return () => {
    document.removeEventListener('invalid', say, true);
    document.removeEventListener('input', forget, true);
  };
}

function say({ target }: Event): void {
  if (!isField(target)) return;
  // What was said before is no reason of its own.
  target.setCustomValidity('');
  if (!target.validity.valid) target.setCustomValidity(reasonOf(target));
}

function forget({ target }: Event): void {
  if (isField(target) && target.validity.customError) target.setCustomValidity('');
}

function isField(target: EventTarget | null): target is Field {
  return (
    target instanceof HTMLInputElement ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement
  );
}

function reasonOf(field: Field): string {
  const { validity, type } = field;
  if (validity.valueMissing) return t('form.missing');
  if (validity.typeMismatch) return t(type === 'email' ? 'form.noEmail' : 'form.unfit');
  if (field instanceof HTMLInputElement && validity.rangeUnderflow)
    return t('form.atLeast', { least: field.min });
  if (field instanceof HTMLInputElement && validity.rangeOverflow)
    return t('form.atMost', { most: field.max });
  return t('form.unfit');
}
