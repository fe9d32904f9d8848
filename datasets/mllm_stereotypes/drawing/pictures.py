"""Which pictures there are, and the names of their files below sources/."""

from . import (
    active,
    art_lover,
    bookworm,
    dilapidated_car,
    foodie,
    freegan,
    geek,
    loves_outdoors,
    luxury_car,
    luxury_villa,
    music_lover,
    neat,
    shabby_hut,
    slob,
)
from .canvas import Canvas
from .faces import SIZE as FACE_SIZE
from .faces import placeholder, placeholders

PERSONA_SIZE = 224
PERSONAS = {  # in the order of Table A5; four pictures each
    "Art Lover": art_lover.VARIANTS,
    "Bookworm": bookworm.VARIANTS,
    "Foodie": foodie.VARIANTS,
    "Geek": geek.VARIANTS,
    "Loves Outdoors": loves_outdoors.VARIANTS,
    "Music Lover": music_lover.VARIANTS,
    "Slob": slob.VARIANTS,
    "Neat": neat.VARIANTS,
    "Freegan": freegan.VARIANTS,
    "Active": active.VARIANTS,
    "Luxury Car": luxury_car.VARIANTS,
    "Dilapidated Car": dilapidated_car.VARIANTS,
    "Luxury Villa": luxury_villa.VARIANTS,
    "Shabby Hut": shabby_hut.VARIANTS,
}


def drawn():
    """All pictures: (path below sources/, image)."""
    for trait, variants in PERSONAS.items():
        for number, picture in enumerate(variants, start=1):
            canvas = Canvas(PERSONA_SIZE, "#ffffff")
            picture(canvas)
            yield f"persona_images/{trait.lower().replace(' ', '_')}_{number}.png", canvas.image()
    for name, (hatching, mark) in placeholders().items():
        canvas = Canvas(FACE_SIZE, "#ffffff")
        placeholder(canvas, hatching, mark)
        yield f"rehearsal_faces/{name}", canvas.image()
