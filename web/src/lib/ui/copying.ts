// Puts text on the clipboard wherever a browser lets us.

/** Whether it worked; `shown` is a field with this text, for browsers that copy only what is selected. */
export async function copyText(text: string, shown?: HTMLInputElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Over plain http there is no clipboard, and a browser may refuse it.
    shown?.select();
    return shown !== undefined && document.execCommand('copy');
  }
}
