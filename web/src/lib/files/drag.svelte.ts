// Entries that are dragged over the page, and the folders on which they, or files from outside, can be dropped.
import type { Attachment } from 'svelte/attachments';
import type { Entry } from './entries';
import { hasFiles } from './pickedFiles';

class Dragging {
  entries = $state.raw<readonly Entry[]>([]);
  readonly ids = $derived(new Set(this.entries.map(({ id }) => id)));
  /** The folder under the pointer. */
  over = $state<string>();

  begin(event: DragEvent, entries: readonly Entry[]): void {
    this.entries = entries;
    event.dataTransfer?.setData('text/plain', entries.map(({ name }) => name).join('\n'));
    if (event.dataTransfer) event.dataTransfer.effectAllowed = 'move';
  }

  end = (): void => {
    this.entries = [];
    this.over = undefined;
  };

  /** Not onto itself, nor to where it is. */
  fits(folder: string): boolean {
    return (
      this.entries.length > 0 &&
      this.entries.every((entry) => entry.id !== folder && entry.folder_id !== folder)
    );
  }
}

export const dragging = new Dragging();

/** Makes an element a folder on which entries can be dropped; files from outside are taken by the upload zone. */
export function takes(
  folder: string,
  ondrop: ((entries: readonly Entry[], folder: string) => unknown) | undefined,
): Attachment<HTMLElement> {
  return (node) => {
    function dragover(event: DragEvent): void {
      if (dragging.fits(folder)) event.preventDefault();
      else if (!hasFiles(event.dataTransfer)) return;
      dragging.over = folder;
    }

    function leave(event: DragEvent): void {
      const stays = event.relatedTarget instanceof Node && node.contains(event.relatedTarget);
      if (!stays && dragging.over === folder) dragging.over = undefined;
    }

    function drop(event: DragEvent): void {
      dragging.over = undefined;
      if (!dragging.fits(folder)) return;
      event.preventDefault();
      ondrop?.(dragging.entries, folder);
    }

    if (!ondrop) return;
    node.addEventListener('dragover', dragover);
    node.addEventListener('dragleave', leave);
    node.addEventListener('drop', drop);
    return () => {
      node.removeEventListener('dragover', dragover);
      node.removeEventListener('dragleave', leave);
      node.removeEventListener('drop', drop);
    };
  };
}
