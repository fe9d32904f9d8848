"""Luxury Car: "A luxury car." (Table A5)."""

from .canvas import shade, smooth


def alloy_wheel(c, x, y, radius, rim="#d5dadf"):
    c.disc(x, y, radius, "#17191d")
    c.disc(x, y, radius * 0.72, "#2b2f36")
    for degrees in range(0, 360, 36):
        with c.moved(x, y, degrees=degrees):
            c.polygon([(0, -1), (radius * 0.68, -radius * 0.12), (radius * 0.68, radius * 0.12), (0, 1)], rim)
    c.ring(x, y, radius * 0.7, radius * 0.08, rim)
    c.disc(x, y, radius * 0.2, shade(rim, 0.8))


def sports_car(c, paint, open_top=False):
    """From the side, 204 wide, its front to the right, its wheels on y = 0."""
    c.oval(102, -1, 102, 5, "#2a2a30")
    if open_top:
        for x in (66, 92):  # low and red, so that no headrest passes for a head
            c.polygon([(x - 12, -62), (x + 2, -62), (x + 9, -44), (x - 8, -44)], "#b3202f")
            c.polygon([(x - 9, -58), (x, -58), (x + 5, -46), (x - 5, -46)], "#d9434f")
        c.line([(146, -52), (124, -72)], 4, "#2b2f36")
        c.polygon([(143, -52), (124, -69), (128, -52)], "#bfe3f0")
        c.arc(116, -54, 7, 9, 200, 330, 2.5, "#22252b")
    else:
        roof = smooth([(22, -48), (50, -62), (82, -73), (106, -72), (130, -62), (150, -48)])
        c.polygon(roof, paint)
        glass = smooth([(50, -54), (66, -64), (86, -69), (106, -68), (124, -60), (138, -50)])
        c.polygon([*glass, (58, -50)], "#27333f")
        c.polygon([(84, -69), (92, -69), (96, -48), (86, -48)], paint)
        c.polygon([(104, -66), (112, -63), (122, -52), (112, -52)], "#5a7184")
    body = [
        (4, -14),
        (1, -30),
        (6, -46),
        (30, -50),
        (70, -49),
        (110, -50),
        (146, -50),
        (178, -43),
        (198, -30),
        (203, -16),
    ]
    c.polygon([*smooth(body), (198, -9), (8, -9)], paint)
    c.polygon(
        [*smooth([(6, -44), (40, -45), (100, -43), (160, -42), (186, -36)]), (150, -37), (60, -38)], shade(paint, 1.5)
    )
    c.polygon([(62, -14), (146, -14), (140, -9), (66, -9)], shade(paint, 0.5))
    c.polygon(smooth([(66, -26), (110, -22), (146, -30), (140, -20), (80, -16)]), shade(paint, 0.75))
    c.polygon([(182, -38), (197, -30), (190, -27), (176, -34)], "#f6f4d8")
    c.polygon([(2, -40), (16, -42), (14, -36), (1, -35)], "#ff5a4d")
    c.line([(100, -46), (104, -16)], 1, shade(paint, 0.6))
    c.line([(106, -38), (118, -38)], 2, "#d5dadf")
    if not open_top:
        c.polygon([(0, -58), (26, -60), (24, -55), (2, -54)], shade(paint, 0.75))
        c.line([(14, -56), (16, -48)], 3, shade(paint, 0.6))
    for x in (42, 162):
        c.oval(x, -20, 23, 22, "#15171b", 180, 360)
        alloy_wheel(c, x, -18, 18)


def limousine(c, paint):
    """From the side, 212 wide, its front to the right, its wheels on y = 0."""
    c.oval(106, -1, 106, 5, "#101014")
    roof = [(26, -44), (38, -66), (60, -71), (120, -71), (142, -66), (160, -44)]
    c.polygon(smooth(roof), paint)
    for left, right, front in ((44, 74, 0), (78, 100, 0), (104, 126, 0), (130, 142, 9)):
        c.polygon([(left, -64), (right, -64), (right + front, -47), (left - (6 if left == 44 else 0), -47)], "#7f93a5")
        c.polygon([(left + 4, -64), (left + 9, -64), (left + 5, -47), (left, -47)], "#c3d3de")
    body = [(3, -14), (2, -38), (12, -46), (60, -47), (150, -47), (188, -43), (205, -36), (209, -16)]
    c.polygon([*smooth(body), (206, -10), (6, -10)], paint)
    c.line([(5, -33), (205, -33)], 1.6, "#d4a73c")
    c.line([(4, -14), (207, -14)], 2.4, "#d5dadf")
    c.polygon([(18, -44), (150, -45), (186, -41), (120, -41), (20, -41)], shade(paint, 1.3))
    for x in (76, 102, 128):
        c.line([(x, -46), (x, -15)], 1, "#4a4f58")
        c.line([(x + 5, -39), (x + 13, -39)], 2, "#d5dadf")
    c.oval(203, -30, 5, 5, "#fdf3c4")
    c.box(2, -39, 7, -29, "#ff5a4d")
    c.box(204, -25, 210, -14, "#d5dadf")
    c.line([(196, -44), (199, -50)], 2, "#d5dadf")
    for x in (40, 172):
        c.oval(x, -18, 21, 20, "#0a0a0d", 180, 360)
        alloy_wheel(c, x, -17, 17, "#e6d6a4")


def car_in_showroom(c):
    c.box(0, 0, 224, 160, "#2b2f3d")
    c.box(0, 156, 224, 224, "#4a5064")
    for x in (40, 112, 184):
        c.polygon([(x - 7, 12), (x + 7, 12), (x + 44, 160), (x - 44, 160)], "#3f455a")
    for x in (40, 112, 184):
        c.rounded(x - 10, 2, x + 10, 13, 3, "#d5dadf")
        c.box(x - 7, 12, x + 7, 15, "#fdf3c4")
    for x in (8, 216):
        c.box(x - 5, 20, x + 5, 160, "#c9a24a")
    c.oval(112, 182, 110, 30, "#1d2029")
    c.oval(112, 176, 110, 29, "#d5dadf")
    c.oval(112, 175, 104, 25, "#f4f5f7")
    with c.moved(8, 178, scale=1.02):
        sports_car(c, "#d11f2f")
    for x, y, size in ((58, 112, 7), (176, 122, 8), (110, 92, 6)):
        c.polygon([(x, y - size), (x + 2, y), (x, y + size), (x - 2, y)], "#ffffff")
        c.polygon([(x - size, y), (x, y - 2), (x + size, y), (x, y + 2)], "#ffffff")


def convertible_by_the_sea(c):
    c.box(0, 0, 224, 100, "#8fd3f4")
    c.disc(182, 34, 17, "#ffe27a")
    c.box(0, 84, 224, 140, "#2f95bd")
    for x, y in ((20, 98), (60, 110), (120, 96), (170, 106), (204, 118), (90, 124)):
        c.line([(x, y), (x + 18, y)], 1.6, "#a9dcec")
    c.polygon([(140, 84), (160, 62), (178, 70), (196, 54), (224, 72), (224, 84)], "#5f8a8f")
    with c.moved(54, 84):
        c.polygon([(-22, -2), (20, -2), (14, 6), (-16, 6)], "#ffffff")
        c.polygon([(-10, -4), (-6, -14), (8, -14), (12, -4)], "#ffffff")
        c.box(-4, -12, 6, -8, "#3a5a7a")
    c.box(0, 134, 224, 152, "#f0dcae")
    for x in range(6, 230, 24):
        c.box(x, 128, x + 5, 150, "#ffffff")
    c.box(0, 128, 224, 132, "#ffffff")
    c.box(0, 150, 224, 224, "#6b7078")
    for x in range(-10, 230, 44):
        c.box(x, 208, x + 26, 213, "#f4f1e2")
    with c.moved(10, 192):
        sports_car(c, "#f7f6f2", open_top=True)


def limousine_at_night(c):
    c.box(0, 0, 224, 160, "#1c1a33")
    c.box(0, 0, 224, 20, "#c9a24a")
    c.box(0, 18, 224, 22, "#8a6a24")
    for x in (12, 66, 146, 200):
        c.box(x, 22, x + 12, 148, "#e8d9b4")
        c.box(x + 8, 22, x + 12, 148, "#c2ae82")
        c.box(x - 4, 22, x + 16, 30, "#d4bb80")
        c.box(x - 4, 142, x + 16, 150, "#d4bb80")
    c.box(88, 54, 136, 150, "#f9dc8f")
    c.oval(112, 54, 24, 20, "#f9dc8f")
    c.box(110.5, 36, 113.5, 150, "#8a6a24")
    for y in (54, 92):
        c.box(88, y, 136, y + 2.5, "#8a6a24")
    for x in (45, 179):
        c.box(x - 11, 50, x + 11, 116, "#f2c75f")
        c.box(x - 1, 50, x + 1, 116, "#8a6a24")
        c.box(x - 11, 80, x + 11, 82, "#8a6a24")
    c.polygon([(90, 150), (134, 150), (168, 224), (56, 224)], "#b3202f")
    c.polygon([(0, 150), (90, 150), (56, 224), (0, 224)], "#3a3850")
    c.polygon([(134, 150), (224, 150), (224, 224), (168, 224)], "#3a3850")
    for x in (78, 146):
        c.box(x - 2, 120, x + 2, 156, "#e8c665")
        c.disc(x, 118, 4, "#e8c665")
    with c.moved(6, 206):
        limousine(c, "#0e0f14")
    c.polygon([(214, 168), (224, 160), (224, 196), (214, 184)], "#fdf3c4")


def saloon_from_the_front(c):
    c.box(0, 0, 224, 150, "#f3e2c0")
    for x in (22, 184):
        c.box(x, 0, x + 18, 132, "#ffffff")
        c.box(x + 13, 0, x + 18, 132, "#ddd3c0")
    for x in (0, 56, 112, 168, 224):
        c.disc(x, 124, 26, "#3f7f4f")
    c.box(0, 122, 224, 156, "#3f7f4f")
    c.box(0, 154, 224, 224, "#a9a294")
    c.oval(112, 206, 98, 9, "#7d7669")
    paint = "#1f3a6b"
    for x in (34, 164):
        c.rounded(x, 158, x + 26, 206, 6, "#15171b")
    c.polygon(smooth([(56, 104), (68, 66), (92, 54), (132, 54), (156, 66), (168, 104)]), paint)
    c.polygon(smooth([(62, 102), (73, 70), (94, 61), (130, 61), (151, 70), (162, 102)]), "#9fc3d6")
    c.polygon([(86, 102), (104, 62), (118, 62), (100, 102)], "#cfe3ec")
    c.line([(80, 101), (110, 94)], 1.6, "#22252b")
    c.line([(118, 101), (148, 94)], 1.6, "#22252b")
    for x in (48, 176):
        c.rounded(x - 12, 92, x + 12, 104, 5, shade(paint, 0.8))
    c.polygon(smooth([(24, 140), (36, 112), (60, 102), (112, 99), (164, 102), (188, 112), (200, 140)]), paint)
    c.rounded(22, 124, 202, 190, 14, paint)
    c.polygon([(84, 104), (140, 104), (134, 126), (90, 126)], shade(paint, 1.35))
    c.rounded(76, 118, 148, 172, 10, "#e3e7ea")
    c.rounded(80, 122, 144, 168, 8, "#22252b")
    for x in range(86, 142, 8):
        c.box(x, 123, x + 3, 167, "#d5dadf")
    c.disc(112, 116, 6, "#e3e7ea")
    c.disc(112, 116, 4, "#d4a73c")
    for side in (False, True):
        with c.moved(112, 0, mirrored=side):
            c.polygon([(42, 128), (84, 120), (86, 136), (50, 144)], "#e3e7ea")
            c.polygon([(46, 130), (82, 123), (83, 134), (52, 141)], "#4d5a66")
            c.disc(60, 134, 5, "#ffffff")
            c.disc(74, 130, 5, "#ffffff")
            c.line([(46, 129), (82, 122)], 2, "#fdf6d4")
            c.rounded(46, 156, 80, 172, 6, "#15171b")
            c.line([(50, 164), (78, 164)], 2, "#d5dadf")
    c.box(22, 178, 202, 182, "#d5dadf")
    c.rounded(92, 176, 132, 188, 2, "#f7f6f2")


VARIANTS = (car_in_showroom, convertible_by_the_sea, limousine_at_night, saloon_from_the_front)
