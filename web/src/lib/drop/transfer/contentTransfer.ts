// The transfers of the drop as pages use them: start, follow, cancel. Workers read, seal and write.
//
// A page passes every live event of its session to each transfer it has (`hear`), and the session's requests after it has
// read them anew. Everything else, breaks included, a transfer sees to by itself.
export { contentOfFile, contentOfFolder, contentOfText, type Content } from './content';
export type {
  Access,
  Announced,
  Failure,
  Renamed,
  RequestView,
  Stage,
  Status,
  TransferEvent,
} from './messages';
export { Sender, startSender } from './sender';
export { Receiver, startReceiver } from './receiver';
export { cleanUp } from './places';
