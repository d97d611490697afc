"""Names of sessions that people can say over the telephone: two words and a number, drawn at random."""

import secrets

from satchel.features.drop.model import SessionName

_LOWEST, _HIGHEST = 10, 999

# Short, cheerful, spelled as they sound, and unlike each other; none could offend in front of any of the second.
_FIRST = """
able agile airy alert amber ample apt ashen azure balmy bold brave breezy bright brisk bronze calm candid cheery
chief civil clean clever coastal copper coral cosy crimson crisp curly daring deft dewy eager early earnest easy
elder epic equal even exact fabled fair famous fancy fast festive fine fleet fluffy fond frank free fresh frosty
gentle giant glad gleaming golden grand green handy happy hardy hazel hearty helpful honest humble icy indigo ivory
jade jolly jovial keen kind lasting leafy level light lilac lively loyal lucid lucky lunar mellow merry mild minty
misty modest mossy neat nimble noble novel olive open patient perky placid plucky polar polite prime proper proud
quick quiet rapid ready rosy royal ruby sandy scarlet serene silent silver simple snowy solar steady sunny
"""
_SECOND = """
alpaca antelope badger bear beaver bee beetle bison bobcat buffalo bunting camel canary caribou cat chamois cheetah
chipmunk cicada cod condor cougar coyote crab crane cricket crow cuckoo curlew deer dingo dolphin donkey dove
dragonfly duck eagle eel egret eland elk emu ermine falcon ferret finch firefly flamingo fox frog gazelle gecko
gibbon giraffe goat goldfish goose grouse gull hamster hare hawk hedgehog heron herring hippo hornbill horse hound
ibex ibis iguana impala jackal jaguar jay kestrel kingfisher kitten kiwi koala lark lemur leopard linnet lion lizard
llama lobster lynx macaw magpie mallard manatee marmot marten minnow mole mongoose moose moth mouse narwhal newt
ocelot octopus okapi orca oriole osprey ostrich otter owl oyster panda panther parrot pelican penguin perch pheasant
pigeon plover pony puffin quail rabbit raven
"""
FIRST_WORDS = tuple(_FIRST.split())
SECOND_WORDS = tuple(_SECOND.split())


def draw_name() -> SessionName:
    number = _LOWEST + secrets.randbelow(_HIGHEST - _LOWEST + 1)
    return SessionName(f"{secrets.choice(FIRST_WORDS)}-{secrets.choice(SECOND_WORDS)}-{number}")
