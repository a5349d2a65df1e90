"""The vocabulary of the laboratory as tables: concepts, their hypernyms, and what verbs and adjectives combine with.

English words are only labels of concepts; no language of the laboratory contains them.
"""

from __future__ import annotations

# class < broader class: members, the most frequent first. Classes are nouns too.
NOUNS = """
being:
person < being: man woman child girl boy friend neighbour guest stranger thief hero beggar twin orphan
relative < person: mother father sister brother daughter son aunt uncle cousin grandmother grandfather
worker < person: farmer teacher doctor smith baker judge hunter sailor weaver miller potter scribe nurse carpenter
leader < person: king queen prince captain priest mayor general bishop chief
artist < worker: singer painter poet dancer drummer actor sculptor
soldier < person: archer guard rider spearman scout
animal < being: snake frog turtle lizard
mammal < animal: dog cat horse cow sheep goat pig wolf bear fox deer rabbit lion mouse camel donkey bat otter
bird < animal: crow hen eagle owl swan duck goose falcon sparrow heron dove stork
fish < animal: trout salmon eel carp pike herring shark perch
insect < animal: bee ant fly moth spider beetle locust wasp
plant < being: grass reed moss fern nettle clover
tree < plant: oak pine birch willow elm palm maple cedar ash
flower < plant: rose lily poppy daisy tulip violet iris
thing:
food < thing: bread cheese meat soup egg honey rice butter cake porridge salt sausage
fruit < food: apple pear plum grape fig cherry peach melon date quince
vegetable < food: bean onion cabbage carrot turnip leek pea garlic beet
drink < thing: water wine milk beer tea juice broth cider
tool < thing: hammer axe saw spade needle plough chisel ladder rake broom file
weapon < thing: sword spear bow shield dagger club sling lance
vehicle < thing: cart wagon sledge carriage chariot
boat < vehicle: ship canoe raft ferry barge galley
garment < thing: coat hat shirt shoe cloak belt glove scarf dress robe veil
furniture < thing: table chair bed bench chest shelf cradle stool cupboard
instrument < thing: drum flute harp horn fiddle bell lute whistle
vessel < thing: cup bowl jar basket bottle pot barrel bucket jug
jewel < thing: ring crown necklace pearl bracelet brooch ruby
material < thing: stone wood iron gold silver wool clay glass leather copper wax linen
writing < thing: book letter map song story poem law contract diary riddle prayer
place:
building < place: house school temple tower mill castle barn inn palace prison hospital bakery library stable
room < place: kitchen hall cellar attic chamber workshop
land < place: field forest garden island desert valley meadow orchard vineyard plain
water_body < place: river lake sea pond stream swamp bay
height < place: mountain hill cliff ridge volcano
settlement < place: village town city market harbour camp street square
body_part: hand head eye leg arm ear heart back mouth tail wing
feeling: joy fear anger grief hope love shame envy pride
event: war feast wedding storm harvest journey trial fire flood game dance funeral battle fair
weather: rain snow wind fog thunder hail
idea: truth peace freedom justice wisdom debt secret plan dream promise
institution: bank guild company council army academy theatre newspaper
"""

# verb frame subject-classes object-classes < broader verb
# Frames: i intransitive, t transitive, d ditransitive, m with a goal, c with a factive clause, b with a believed clause
VERBS = """
move i being,vehicle
sleep i person,animal
laugh i person
cry i person < react
react i person,animal
work i person
wait i person,animal
die i being
sing i person,bird
dance_v i person
swim i fish,mammal,person < move
fly_v i bird,insect < move
grow i plant,feeling,child
fall i person,thing,tree,weather
run i person,mammal < move
walk i person,mammal < move
crawl i insect,child,snake < move
burn_i i building,material,tree
shine i jewel,weapon,water_body
break_i i tool,vessel,vehicle
sink i boat,stone < move
bloom i flower,tree < grow
rot i fruit,vegetable,meat,wood
begin i event
end i event
rest i person,animal
tremble i person,mammal,leader < react
shout i person,soldier
bark i dog,fox,wolf
graze i cow,sheep,goat,horse,deer,camel,donkey
ache i body_part
fade i feeling,idea,flower,fog
see t person,animal being,thing,place < notice
notice t person,animal being,thing,place
hear t person,animal weather,bird,instrument,artist < notice
eat t person,animal food
devour t wolf,bear,lion,fish,soldier food,fish < eat
taste t person food,drink
drink_v t person,mammal drink
sip t person tea,wine,broth,milk < drink_v
hunt t hunter,wolf,lion,eagle,leader mammal,bird,fish < chase
chase t person,mammal mammal,bird,thief,insect
catch t person,cat,bird fish,insect,thief,mouse
bite t dog,snake,insect,wolf person,fruit,mammal
feed t person mammal,bird,fish,child
ride t soldier,leader,person horse,camel,donkey,bear
make t worker,person thing
build t worker,leader building,boat,furniture < make
bake t baker,relative,woman bread,cake,sausage < make
cook t person soup,meat,rice,porridge,egg,vegetable < make
sew t weaver,relative,woman garment < make
forge t smith weapon,tool,jewel < make
carve t carpenter,artist,man furniture,wood,instrument,stone < make
weave_v t weaver,relative,spider garment,wool,basket < make
write t scribe,poet,judge,teacher,person writing < make
read t person writing
burn_t t soldier,fire,person building,writing,wood < destroy
destroy t war,storm,flood,soldier building,thing,boat
break_t t person,mammal vessel,tool,glass < destroy
repair t worker,person tool,vehicle,boat,furniture,building
clean t person garment,vessel,room,building
wash t person garment,body_part,vessel < clean
buy t person,leader food,thing,mammal < get
get t person thing
steal t thief,soldier,fox jewel,food,mammal,weapon < get
find t person,dog thing,idea,person < get
lose t person,leader jewel,tool,war,battle,hope
hide t person,thief jewel,writing,weapon,secret
carry t person,donkey,camel,vehicle vessel,material,food,tool
lift t person,soldier material,furniture,weapon,child < move_t
move_t t person furniture,material,vehicle
push t person,mammal vehicle,furniture,person < move_t
pull t horse,cow,person,donkey vehicle,plough,boat < move_t
throw t person,soldier material,weapon,fruit < move_t
open t person,guard chest,bottle,letter,building
close t person,guard chest,bottle,book,building
love_v t person,relative person,idea,place < like
like t person person,food,animal,event
admire t person leader,artist,writing < like
hate t person person,war,weather,idea
fear_v t person,animal soldier,weather,war,animal
follow t person,mammal leader,person,mammal
lead t leader,captain soldier,event,army
kill t soldier,hunter,animal person,mammal,snake < harm
harm t person,animal,weather person,animal,plant
wound t soldier,archer,bear soldier,mammal,hero < harm
heal t doctor,nurse,priest person,soldier,mammal
help t person,leader person,worker
greet t person person,leader,guest
visit t person,leader relative,place,settlement,worker
marry t person,leader person,leader
teach_t t teacher,priest,artist child,prince,boy,girl
paint t painter,artist building,person,land,furniture
play t artist,child,person instrument,game
plant_v t farmer,person plant,vegetable,tree
pick t child,farmer,woman fruit,flower
cut t person,tool tree,grass,bread,meat
cross t person,soldier,boat water_body,desert,land
guard_v t guard,dog,soldier building,jewel,prison,settlement
attack t soldier,wolf,person,army settlement,building,soldier,mammal
wear t person,leader garment,jewel
judge_v t judge,king thief,trial,debt
raise t person,soldier,leader body_part,weapon,vessel < move_t
touch t person,child body_part,garment,flower,animal
feel t person,relative,artist feeling,wind,fog
seek t person,leader,priest idea,feeling,jewel
share t friend,person,relative idea,food,feeling
win t leader,soldier,hero event,peace
disturb t weather,event person,animal,feeling
give d person,leader thing < transfer
transfer d person thing
send d leader,person,relative writing,food,soldier < transfer
sell d worker,person food,thing,mammal < transfer
lend d neighbour,friend,person tool,vehicle,book < transfer
show d person,artist jewel,map,writing,garment
bring d worker,person,dog food,drink,writing < transfer
offer d person,priest,guest food,drink,jewel
teach d teacher,artist,priest song,law,poem,dance
promise_v d leader,person gold,land,peace,horse
owe d person,worker gold,debt,silver
go m person,vehicle,mammal
travel m person,soldier,boat,leader < go
return m soldier,person,bird < go
march m soldier,army,leader < go
flee m thief,person,mammal < go
sail m sailor,boat,captain < go
ride_m m rider,leader,soldier < go
climb m person,goat,bear < go
come m person,guest,mammal,weather
move_m m relative,worker,artist
hurry m doctor,nurse,person,guard < go
know c person
see_c c person,guard
learn c leader,person,worker
remember c person,relative
forget c person,child
prove c judge,teacher
say b person,leader
believe b person,priest
think b person,artist
hope_v b relative,soldier,person
claim b thief,worker,leader
deny b thief,soldier
"""

# a pair of opposites, or one adjective without opposite: the classes that it describes
ADJECTIVES = """
big/small: being thing building land water_body settlement
old/young: person animal tree
ancient/new: building thing settlement writing
good/bad: person food writing weather event idea
strong/weak: person animal weather drink
rich/poor: person settlement land
fast/slow: mammal bird fish vehicle soldier
hot/cold: food drink weather water_body
warm/cool: garment room weather
heavy/light: thing furniture weapon vessel material
long/short: garment weapon writing event tail
tall/low: tree building furniture height
deep/shallow: water_body vessel valley
wide/narrow: settlement water_body land boat
clean_a/dirty: garment room vessel animal
wet/dry: land garment plant material
full/empty: vessel building boat
sharp/blunt: tool weapon
hard/soft: material bread furniture
sweet/bitter: fruit drink food feeling
fresh/stale: food flower drink
cheap/dear: food thing garment
beautiful/ugly: person animal place jewel flower
happy/sad: person writing event
brave/timid: soldier mammal leader
wise/foolish: leader relative worker idea
kind/cruel: person leader
loud/quiet: instrument bird event child settlement
healthy/sick: person animal plant
famous/unknown: artist leader writing settlement
free/captive: person bird mammal
honest/false: person idea writing
bright/dark: room jewel flower place
safe/dangerous: place animal tool
tame/wild: mammal bird
open_a/closed: building vessel market
ripe/raw: fruit vegetable
friendly/hostile: person mammal settlement
generous/greedy: leader relative worker
calm/stormy: water_body weather
thick/thin: garment tree book person
smooth/rough: material furniture height
simple/complex: tool writing idea law
noble/common: leader person jewel
hungry/sated: person animal
awake/asleep: person animal
red: garment flower fruit bird
blue: garment flower bird vessel
green: plant garment fruit insect
white: mammal bird garment stone
black: mammal bird garment boat
yellow: flower fruit insect
brown: mammal furniture vessel
golden: jewel crown instrument
wooden: furniture vessel tool boat
royal: garment building soldier
sacred: building tree mammal writing
lonely: person island tower wolf
blind: person mammal
holy: water_body writing person
strange: person animal event dream
"""

MANNERS = [
    *("quickly", "slowly", "quietly", "loudly", "bravely", "gladly"),
    *("sadly", "often", "rarely", "carefully", "badly", "well"),
    *("together", "alone", "secretly", "suddenly", "soon", "again"),
    *("almost", "proudly", "gently", "angrily", "politely", "lazily"),
]
DAYS = ["moonday", "fireday", "waterday", "woodday", "goldday", "earthday", "sunday"]
SEASONS = ["spring", "summer", "autumn", "winter", "morning", "evening", "night", "noon"]
WHEN = {"past": ["yesterday", "formerly"], "present": ["now", "today"], "future": ["tomorrow", "later"]}
TIMES = [*DAYS, *SEASONS, *(adverb for adverbs in WHEN.values() for adverb in adverbs)]
NUMBERS = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
PLACE_RELATIONS = ["in", "on", "under", "near", "behind"]
RELATIONS = [*PLACE_RELATIONS, "to", "of", "from", "with", "for", "about", "at"]
DETERMINERS = ["the", "a", "this", "every", "some", "no", "many", "few", "how_many", "whose"]
PRONOUNS = ["i", "you", "he", "she", "we", "they"]
QUESTIONS = ["who", "what", "where", "when"]
JOINERS = ["and", "but", "or", "that", "because", "while", "if", "although", "not", "be", "will", "which"]
FUNCTION_WORDS = [*RELATIONS, *DETERMINERS, *PRONOUNS, *QUESTIONS, *JOINERS]

NAME_COUNTS = {"given": 320, "surname": 220, "place": 200, "organisation": 110}
