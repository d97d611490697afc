// Finds the JSON that Google Takeout wrote beside a photo, whose name it shortens and numbers in its own way.

const ENDING = '.json';
const SUPPLEMENT = '.supplemental-metadata';
const MOST_STEM = 46;
const NUMBERED = /^(.*)(\(\d+\))(\.[^.]*)?$/s;
const EDITED =
  /-(?:edited|bearbeitet|modifi[eé]|editad[oa]|modificato|bewerkt|redigerad|redigeret|edytowane|effects)(?=\(|\.|$)/i;
const STILLS = ['.HEIC', '.heic', '.JPG', '.jpg', '.JPEG', '.jpeg', '.DNG', '.dng'];

/** The name of the JSON among those of the folder, if there is one. */
export function takeoutFor(name: string, names: ReadonlySet<string>): string | undefined {
  return wantedNames(name)
    .flatMap(candidates)
    .find((each) => names.has(each));
}

/** An edited photo, and the video of a live photo, have no JSON of their own. */
function wantedNames(name: string): string[] {
  const original = name.replace(EDITED, '');
  const stem = /^(.+)\.(?:mov|mp4|mp)$/i.exec(original)?.[1];
  const stills = stem === undefined ? [] : STILLS.map((still) => stem + still);
  return [name, ...(original === name ? [] : [original]), ...stills];
}

function candidates(name: string): string[] {
  const numbered = NUMBERED.exec(name);
  const [plain, number] = numbered ? [`${numbered[1]}${numbered[3] ?? ''}`, numbered[2] ?? ''] : [name, ''];
  const whole = plain + SUPPLEMENT;
  // Cut anywhere in its own ending; the longest first.
  const cuts = Array.from({ length: SUPPLEMENT.length + 1 }, (_, cut) => whole.slice(0, whole.length - cut));
  const stems = [whole.slice(0, MOST_STEM), plain.slice(0, MOST_STEM), ...cuts];
  return [
    ...stems.map((stem) => stem + number + ENDING),
    // Older exports kept the number where it was, and a long name loses its own ending first.
    name.slice(0, MOST_STEM) + ENDING,
    ...(name.length >= MOST_STEM ? [name.replace(/\.[^.]*$/, '').slice(0, MOST_STEM) + ENDING] : []),
  ];
}
