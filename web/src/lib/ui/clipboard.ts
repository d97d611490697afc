// Copies text to the clipboard, with a fallback for browsers that refuse.

/** Whether it worked; `shown` is a field with this text, for browsers that copy only what is selected. */
export async function copyText(text: string, shown?: HTMLInputElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Over plain http there is no clipboard, and a browser may refuse it.
    return shown ? copySelected(shown) : copyAside(text);
  }
}

function copySelected(field: HTMLInputElement | HTMLTextAreaElement): boolean {
  field.select();
  return document.execCommand('copy');
}

/** From a field that is there for this moment only. */
function copyAside(text: string): boolean {
  const before = document.activeElement;
  const field = document.createElement('textarea');
  field.className = 'unseen';
  // Or a phone would open its keyboard.
  field.readOnly = true;
  field.value = text;
  // Nothing outside of an open dialog can be selected.
  (before?.closest('dialog') ?? document.body).append(field);
  const worked = copySelected(field);
  field.remove();
  if (before instanceof HTMLElement) before.focus();
  return worked;
}
