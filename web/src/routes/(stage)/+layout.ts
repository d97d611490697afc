// The stand has the whole screen; whoever is not signed in does that first and then comes back.
export { load } from '../(app)/+layout';
