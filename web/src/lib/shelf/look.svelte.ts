// How this browser shows the shelf: as a list or as tiles, and in which order.
import type { Sort, View } from '$lib/files/entries';

class Look {
  view = $state<View>(remembered('shelf-view') === 'grid' ? 'grid' : 'list');
  sort = $state<Sort>(remembered('shelf-sort') === 'newest' ? 'newest' : 'name');

  show(view: View): void {
    this.view = view;
    remember('shelf-view', view);
  }

  order(sort: Sort): void {
    this.sort = sort;
    remember('shelf-sort', sort);
  }
}

function remembered(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function remember(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Storage is switched off: the choice holds until the page is closed.
  }
}

export const look = new Look();
