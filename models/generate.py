#!/usr/bin/env python3
"""Writes stick.xml, simple.xml, muscular.xml and muscular_full.xml.

Four floating bodies of 1.75 m and 75 kg. X is forward, Y left, Z up; every hinge is 0 in upright standing. Lengths in
m, masses in kg, inertias in kg m^2, angles in degrees. The left side is written down, the right one is its image.

    generate.py [FOLDER]    write the files there (default: beside this program)
    generate.py --check     compare them instead; exit 1 if one differs

Sources, named beside the numbers:
  de Leva   P. de Leva, "Adjustments to Zatsiorsky-Seluyanov's segment inertia parameters",
            Journal of Biomechanics 29(9), 1223-1230, 1996: table 4, male
  Winter    D. A. Winter, "Biomechanics and Motor Control of Human Movement", figure 4.1
  ours      chosen for these bodies
Mass comes from the <inertial> elements alone, never from geoms: flesh may be added without a change to the dynamics.
"""
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

MASS = 75.0
HEIGHT = 1.75
SCALE = HEIGHT / 1.741  # de Leva's mean man is 1.741 m tall

# ---------------------------------------------------------------------------------------------- tables of the body

# de Leva: mass in % of the body; length in m of a man of 1.741 m; centre of mass in % of the length from the upper
# end; radii of gyration in % of the length about x (sagittal), y (transverse) and z (longitudinal)
SEGMENTS = {
    "head":        (6.94,  0.2033, 50.02, (36.2, 37.6, 31.2)),
    "upper_trunk": (15.96, 0.1707, 29.99, (71.6, 45.4, 65.9)),
    "mid_trunk":   (16.33, 0.2155, 45.02, (48.2, 38.3, 46.8)),
    "lower_trunk": (11.17, 0.1457, 61.15, (61.5, 55.1, 58.7)),
    "upper_arm":   (2.71,  0.2817, 57.72, (28.5, 26.9, 15.8)),
    "forearm":     (1.62,  0.2689, 45.74, (27.6, 26.5, 12.1)),
    "hand":        (0.61,  0.0862, 79.00, (62.8, 51.3, 40.1)),
    "thigh":       (14.16, 0.4222, 40.95, (32.9, 32.9, 14.9)),
    "shank":       (4.33,  0.4340, 44.59, (25.5, 24.9, 10.3)),
    "foot":        (1.37,  0.2581, 44.15, (25.7, 24.5, 12.4)),
}
ANKLE = 0.0683  # height of the ankle over the sole; Winter: 0.039 of the height

# ours: a joint and its servo, torque = clamp(kp (target - q) - kd qd, +-limit)
#             kp N m/rad, kd N m s/rad, limit N m, armature kg m^2, damping N m s/rad, range
JOINTS = {
    "lum_flex":  (800,  60,  220, 0.02,   1.0,  (-30, 70)),
    "lum_lat":   (800,  60,  200, 0.02,   1.0,  (-30, 30)),
    "lum_rot":   (500,  35,  150, 0.02,   1.0,  (-35, 35)),
    "tho_flex":  (600,  45,  160, 0.02,   1.0,  (-20, 40)),
    "tho_lat":   (600,  45,  140, 0.02,   1.0,  (-20, 20)),
    "tho_rot":   (400,  30,  100, 0.02,   1.0,  (-30, 30)),
    "neck_flex": (80,   6,   30,  0.01,   0.3,  (-50, 50)),
    "neck_lat":  (80,   6,   30,  0.01,   0.3,  (-35, 35)),
    "neck_rot":  (50,   4,   20,  0.01,   0.3,  (-70, 70)),
    "clav_elev": (120,  8,   70,  0.01,   0.5,  (-10, 35)),
    "clav_prot": (120,  8,   70,  0.01,   0.5,  (-20, 25)),
    "sho_flex":  (120,  8,   70,  0.01,   0.5,  (-50, 170)),
    "sho_abd":   (120,  8,   70,  0.01,   0.5,  (-20, 150)),
    "sho_rot":   (60,   4,   40,  0.01,   0.4,  (-80, 90)),
    "elbow":     (80,   5,   60,  0.01,   0.3,  (0, 145)),
    "pron":      (20,   1.2, 12,  0.005,  0.1,  (-80, 80)),
    "wri_flex":  (20,   1.2, 12,  0.006,  0.1,  (-70, 75)),
    "wri_dev":   (20,   1.2, 12,  0.006,  0.1,  (-30, 20)),
    "hip_flex":  (600,  45,  250, 0.03,   1.0,  (-25, 120)),
    "hip_abd":   (600,  45,  220, 0.03,   1.0,  (-25, 45)),
    "hip_rot":   (300,  22,  120, 0.02,   1.0,  (-40, 50)),
    "knee":      (600,  45,  260, 0.03,   1.0,  (-2, 145)),
    "ank_flex":  (450,  32,  180, 0.02,   0.5,  (-50, 45)),
    "ank_ever":  (300,  20,  90,  0.02,   0.5,  (-30, 25)),
    "mid":       (120,  6,   60,  0.01,   0.3,  (-10, 10)),
    "toe":       (40,   2,   30,  0.005,  0.2,  (-20, 65)),
    "mcp_flex":  (2.5,  0.08, 3,  0.002,  0.01, (-20, 90)),
    "mcp_abd":   (1.5,  0.06, 1.5, 0.002, 0.01, (-20, 20)),
    "pip":       (1.5,  0.06, 2,  0.0012, 0.01, (0, 105)),
    "dip":       (1.0,  0.04, 1,  0.001,  0.01, (0, 75)),
    "cmc_flex":  (2.5,  0.08, 3,  0.002,  0.01, (-20, 50)),
    "cmc_abd":   (2.5,  0.08, 3,  0.002,  0.01, (-10, 55)),
    "tmp":       (1.5,  0.06, 2,  0.0012, 0.01, (-10, 60)),
    "tip":       (1.0,  0.04, 1,  0.001,  0.01, (-10, 80)),
}
# ours: dry friction in N m; it calms the hands
FINGER_FRICTION = {"mcp_flex": 0.02, "mcp_abd": 0.02, "pip": 0.01, "dip": 0.01,
                   "cmc_flex": 0.02, "cmc_abd": 0.02, "tmp": 0.01, "tip": 0.01}
FULL_FRICTION = 0.002  # ours: of the torque limit, on all other joints of muscular_full

# ours: who meets whom. Geoms of one limb share a bit and do not meet. Hands meet neither hands nor arms: with
# interlocked fingers the Newton solver does not converge
FLOOR, TRUNK, L_ARM, R_ARM, L_LEG, R_LEG, MUSCLE = (1 << bit for bit in range(7))
FLESH_FRICTION, SOLE_FRICTION = (0.9, 0.01, 0.001), (1.0, 0.01, 0.001)
#             contype, conaffinity, friction
CONTACT = {
    "trunk":  (TRUNK, FLOOR,                         FLESH_FRICTION),
    "l_arm":  (L_ARM, FLOOR | TRUNK,                 FLESH_FRICTION),
    "r_arm":  (R_ARM, FLOOR | TRUNK | L_ARM,         FLESH_FRICTION),
    "hand":   (0,     FLOOR | TRUNK | L_LEG | R_LEG, FLESH_FRICTION),
    "l_leg":  (L_LEG, FLOOR | L_ARM | R_ARM,         FLESH_FRICTION),
    "r_leg":  (R_LEG, FLOOR | L_ARM | R_ARM | L_LEG, FLESH_FRICTION),
    "l_foot": (L_LEG, FLOOR | L_ARM | R_ARM,         SOLE_FRICTION),
    "r_foot": (R_LEG, FLOOR | L_ARM | R_ARM | L_LEG, SOLE_FRICTION),
    "clav":   (0,     FLOOR,                         None),
    "muscle": (0,     FLOOR,                         FLESH_FRICTION),
}
MUSCLE_FULL = (MUSCLE, MUSCLE | R_LEG | L_LEG | R_ARM | L_ARM | TRUNK | FLOOR, FLESH_FRICTION)

# ours: ellipsoids of flesh, in the frame of the body that carries them: centre, half axes, rotation about x, y, z
MUSCLES = {
    "pelvis": (
        ("l_glute_max",    (-0.062, 0.072, -0.005), (0.055, 0.062, 0.078)),
        ("l_glute_med",    (-0.010, 0.108, 0.060),  (0.055, 0.036, 0.062))),
    "abdomen": (
        ("rectus_abd",     (0.082, 0, 0.085),       (0.026, 0.062, 0.125)),
        ("l_oblique",      (0.015, 0.108, 0.085),   (0.062, 0.030, 0.095)),
        ("l_erector_lum",  (-0.078, 0.036, 0.085),  (0.028, 0.030, 0.120))),
    "thorax": (
        ("l_pec",          (0.088, 0.075, 0.120),   (0.034, 0.078, 0.058)),
        ("l_lat",          (-0.070, 0.092, 0.060),  (0.036, 0.062, 0.105)),
        ("l_serratus",     (0.030, 0.128, 0.070),   (0.055, 0.022, 0.066)),
        ("l_erector_tho",  (-0.098, 0.034, 0.085),  (0.024, 0.028, 0.105)),
        ("l_infraspin",    (-0.092, 0.098, 0.145),  (0.026, 0.055, 0.045))),
    "head": (
        ("l_scm",          (0.018, 0.038, 0.030),   (0.018, 0.018, 0.062)),),
    "l_clav": (
        ("l_trapezius",    (-0.042, 0.085, 0.030),  (0.034, 0.070, 0.026), (-18, 0, 0)),),
    "l_uarm": (
        ("l_deltoid",      (0, 0.018, -0.035),      (0.052, 0.042, 0.072)),
        ("l_biceps",       (0.028, 0, -0.150),      (0.027, 0.031, 0.085)),
        ("l_triceps_long", (-0.028, -0.010, -0.130), (0.026, 0.026, 0.092)),
        ("l_triceps_lat",  (-0.024, 0.016, -0.155), (0.024, 0.023, 0.082)),
        ("l_brachialis",   (0.018, 0.012, -0.205),  (0.023, 0.026, 0.060))),
    "l_farm": (
        ("l_brachiorad",   (0.020, 0.014, -0.070),  (0.021, 0.020, 0.078)),
        ("l_flexors",      (-0.004, -0.020, -0.095), (0.026, 0.019, 0.088)),
        ("l_extensors",    (-0.008, 0.020, -0.095), (0.024, 0.018, 0.088))),
    "l_hand": (
        ("l_thenar",       (0.024, -0.012, -0.038), (0.016, 0.012, 0.026)),
        ("l_hypothenar",   (-0.024, -0.012, -0.042), (0.013, 0.011, 0.028))),
    "l_thigh": (
        ("l_rectus_fem",   (0.048, 0, -0.190),      (0.032, 0.036, 0.150)),
        ("l_vastus_lat",   (0.020, 0.048, -0.220),  (0.040, 0.030, 0.140)),
        ("l_vastus_med",   (0.028, -0.034, -0.270), (0.034, 0.028, 0.105)),
        ("l_biceps_fem",   (-0.046, 0.024, -0.230), (0.031, 0.030, 0.140)),
        ("l_semitend",     (-0.046, -0.022, -0.230), (0.031, 0.029, 0.140)),
        ("l_adductor",     (-0.004, -0.044, -0.120), (0.042, 0.026, 0.110))),
    "l_shank": (
        ("l_gastroc_lat",  (-0.034, 0.021, -0.120), (0.031, 0.025, 0.098)),
        ("l_gastroc_med",  (-0.036, -0.021, -0.130), (0.032, 0.026, 0.105)),
        ("l_soleus",       (-0.026, 0, -0.220),     (0.028, 0.036, 0.105)),
        ("l_tib_ant",      (0.026, 0.012, -0.150),  (0.021, 0.022, 0.120))),
}

# ours: name, x of the base on the palm, lengths of the phalanges
FINGERS = (("index",  0.028,  (0.040, 0.024, 0.020)),
           ("middle", 0.009,  (0.044, 0.028, 0.021)),
           ("ring",   -0.010, (0.041, 0.026, 0.021)),
           ("little", -0.028, (0.033, 0.019, 0.018)))
PALM = 0.0866  # from the wrist to the lowest knuckle; de Leva's hand
FINGER_MASS, FINGER_RADIUS = (0.015, 0.009, 0.006), (0.0085, 0.008, 0.0075)
THUMB_MASS, THUMB_LENGTH, THUMB_RADIUS = (0.018, 0.013, 0.009), (0.042, 0.032, 0.026), (0.011, 0.009, 0.008)

# ------------------------------------------------------------------------------------------------------- elements


@dataclass
class Inertial:
    mass: float
    com: tuple
    inertia: tuple  # about x, y, z of the body


@dataclass
class Joint:
    name: str
    axis: tuple
    kind: str  # row of JOINTS


@dataclass
class Geom:
    name: str
    contact: str  # row of CONTACT
    size: tuple
    ends: tuple = ()  # of a capsule
    pos: tuple = ()  # of another shape
    euler: tuple = ()
    type: str = ""


@dataclass
class Site:
    name: str
    pos: tuple
    box: tuple = ()  # half sides; else a small sphere


@dataclass
class Body:
    name: str
    pos: tuple
    inertial: Inertial
    joints: list = field(default_factory=list)
    geoms: list = field(default_factory=list)
    sites: list = field(default_factory=list)
    bodies: list = field(default_factory=list)
    euler: tuple = ()


def mirrored(part):
    """The right-hand twin: y changes sign in places, x and z in rotations."""
    name = lambda text: "r_" + text[2:] if text.startswith("l_") else text
    place = lambda v: v and (v[0], -v[1], v[2])
    turn = lambda v: v and (-v[0], v[1], -v[2])
    if isinstance(part, list):
        return [mirrored(one) for one in part]
    if isinstance(part, Joint):
        return replace(part, name=name(part.name), axis=turn(part.axis))
    if isinstance(part, Site):
        return replace(part, name=name(part.name), pos=place(part.pos))
    if isinstance(part, Inertial):
        return replace(part, com=place(part.com))
    if isinstance(part, Geom):
        ends = tuple(place(end) for end in part.ends)
        # a capsule across the middle is its own image: its axis keeps its direction
        if ends[::-1] == part.ends:
            ends = part.ends
        return replace(part, name=name(part.name), contact=name(part.contact), ends=ends,
                       pos=place(part.pos), euler=turn(part.euler))
    return Body(name(part.name), place(part.pos), mirrored(part.inertial), mirrored(part.joints),
                mirrored(part.geoms), mirrored(part.sites), mirrored(part.bodies), turn(part.euler))


def both(part):
    return [part, mirrored(part)]


def capsule(name, contact, start, end, radius):
    return Geom(name, contact, (radius,), ends=(start, end))


def muscles(body):
    """Those that a body carries: of both sides if it is in the middle, else of the side that is written."""
    middle, left = [], []
    for name, pos, size, *euler in MUSCLES[body]:
        geom = Geom(name, "muscle", size, pos=pos, euler=euler[0] if euler else ())
        (left if name.startswith("l_") else middle).append(geom)
    return left if body.startswith("l_") else middle + left + mirrored(left)


@dataclass
class Segment:
    mass: float
    length: float
    com: float  # distance of the centre of mass from the upper end
    gyration: tuple  # radii about x, y, z as parts of the length

    def __init__(self, name):
        mass, length, com, gyration = SEGMENTS[name]
        self.mass = mass / 100 * MASS
        self.length = length * SCALE
        self.com = com / 100 * self.length
        self.gyration = tuple(k / 100 for k in gyration)

    @property
    def inertia(self):
        return tuple(self.mass * (k * self.length) ** 2 for k in self.gyration)

    def hanging(self):
        """With the frame at the upper end."""
        return Inertial(self.mass, (0, 0, -self.com), self.inertia)

    def standing(self):
        """With the frame at the lower end."""
        return Inertial(self.mass, (0, 0, self.length - self.com), self.inertia)


HIP = ANKLE + Segment("thigh").length + Segment("shank").length  # 0.531 of the height; Winter: 0.530

# ---------------------------------------------------------------------------------------------------- the bodies


# where the foot's load is felt, and a point on the floor below the ankle
FOOT_SITES = [Site("l_sole", (0.06, 0, -0.05), box=(0.15, 0.065, 0.03)), Site("l_foot", (0.05, 0, -ANKLE))]
SOLE_RADIUS, TOE_RADIUS = 0.022, 0.020
SOLE_Z, TOE_Z = SOLE_RADIUS - ANKLE, TOE_RADIUS - ANKLE


def soles(name, back, front, z=SOLE_Z):
    """Two capsules along a foot, inside and outside; back and front are (x, distance from the middle line)."""
    edge = lambda which, side: capsule(f"{name}_{which}", "l_foot", (back[0], side * back[1], z),
                                       (front[0], side * front[1], z), SOLE_RADIUS)
    return [edge("in", -1), edge("out", 1)]



def foot(midfoot):
    """Hindfoot and toes, with a midfoot between them or without; the ankle is the origin."""
    segment = Segment("foot")

    def part(share, stretch, com):
        """A share of the foot's mass, spread over a stretch of its length; a foot lies: its long axis is x."""
        kz, ky, kx = segment.gyration
        spread = lambda k: share * segment.mass * (k * stretch * segment.length) ** 2 + 1e-5
        return Inertial(share * segment.mass, com, (spread(1.4 * kx), spread(ky), spread(kz)))

    hind, mid, front = (0.55, 0.30, 0.15) if midfoot else (0.85, 0, 0.15)
    toes = Body("l_toes", (0.070, 0, TOE_Z - SOLE_Z) if midfoot else (0.135, 0, TOE_Z),
                part(front, 0.35, (0.025, 0, 0)), [Joint("l_toe", (0, -1, 0), "toe")],
                [capsule("l_toes", "l_foot", (0.035, -0.035, 0), (0.035, 0.035, 0), TOE_RADIUS)])
    if midfoot:
        toes = Body("l_mid", (0.065, 0, SOLE_Z), part(mid, 0.5, (0.03, 0, 0.005)),
                    [Joint("l_mid", (0, -1, 0), "mid")],
                    soles("l_mid", (0.020, 0.036), (0.055, 0.036), z=0), bodies=[toes])
    return Body("l_foot", (0, 0, -Segment("shank").length),
                part(hind, 0.6 if midfoot else 0.85, (0.01 if midfoot else 0.03, 0, -0.035)),
                [Joint("l_ank_flex", (0, -1, 0), "ank_flex"), Joint("l_ank_ever", (1, 0, 0), "ank_ever")],
                soles("l_foot", (-0.045, 0.028), (0.065 if midfoot else 0.115, 0.034)),
                FOOT_SITES, [toes])


def phalanx(name, pos, mass, length, radius, joints, bodies):
    """A rod that points down, with a capsule over the middle four fifths."""
    across = mass * length ** 2 / 12 + mass * radius ** 2 / 4 + 2e-7
    along = mass * radius ** 2 / 2 + 2e-7
    return Body(name, pos, Inertial(mass, (0, 0, -length / 2), (across, across, along)), joints,
                [capsule(name, "hand", (0, 0, -0.1 * length), (0, 0, -0.9 * length), radius)], bodies=bodies)


FLEX = (-1, 0, 0)  # of the left fingers and wrist: the palm faces the body


def finger(name, x, length):
    def part(k, pos, joints, bodies):
        return phalanx(f"l_{name}{k + 1}", pos, FINGER_MASS[k], length[k], FINGER_RADIUS[k], joints, bodies)

    tip = part(2, (0, 0, -length[1]), [Joint(f"l_{name}_dip", FLEX, "dip")], [])
    middle = part(1, (0, 0, -length[0]), [Joint(f"l_{name}_pip", FLEX, "pip")], [tip])
    # the knuckles lie on an arch, the middle one lowest
    knuckle = abs(x - FINGERS[1][1]) * 0.25 - PALM
    return part(0, (x, 0, knuckle),
                [Joint(f"l_{name}_mcp", FLEX, "mcp_flex"), Joint(f"l_{name}_abd", (0, -1, 0), "mcp_abd")], [middle])


def thumb():
    def part(k, pos, joints, bodies):
        return phalanx(f"l_thumb{k}", pos, THUMB_MASS[k], THUMB_LENGTH[k], THUMB_RADIUS[k], joints, bodies)

    tip = part(2, (0, 0, -THUMB_LENGTH[1]), [Joint("l_tip", FLEX, "tip")], [])
    middle = part(1, (0, 0, -THUMB_LENGTH[0]), [Joint("l_tmp", FLEX, "tmp")], [tip])
    base = part(0, (0.028, -0.012, -0.025),
                [Joint("l_cmc_flex", FLEX, "cmc_flex"), Joint("l_cmc_abd", (0, -1, 0), "cmc_abd")], [middle])
    # thick with flesh at its root, so not a rod
    return replace(base, inertial=Inertial(THUMB_MASS[0], (0, 0, -0.02), (4e-6, 4e-6, 1.5e-6)), euler=(0, -40, 0))


def hand(muscular):
    segment = Segment("hand")
    joints = [Joint("l_wri_flex", FLEX, "wri_flex"), Joint("l_wri_dev", (0, -1, 0), "wri_dev")]
    sites = [Site("l_hand", (0, 0, -0.07))]
    pos = (0, 0, -Segment("forearm").length)
    if not muscular:
        return Body("l_hand", pos, segment.hanging(), joints,
                    [capsule("l_hand", "l_arm", (0, 0, -0.03), (0, 0, -0.10), 0.032)], sites)
    palm = Inertial(0.65 * segment.mass, (0, 0, -0.05), (2.6e-4, 3.4e-4, 1.4e-4))
    return Body("l_hand", pos, palm, joints,
                [capsule("l_palm_a", "hand", (0.018, 0, -0.025), (0.024, 0, -0.072), 0.013),
                 capsule("l_palm_b", "hand", (-0.018, 0, -0.025), (-0.024, 0, -0.068), 0.013), *muscles("l_hand")],
                sites, [thumb(), *(finger(*row) for row in FINGERS)])


def human(muscular):
    """simple, or muscular: clavicles, midfeet, fingers and 63 muscles over thinner bones."""
    flesh = muscles if muscular else lambda body: []
    limb, core = (0.8, 0.95) if muscular else (1, 1)  # radii of bones under flesh
    pelvis, abdomen, thorax = Segment("lower_trunk"), Segment("mid_trunk"), Segment("upper_trunk")
    head, upper_arm, forearm = Segment("head"), Segment("upper_arm"), Segment("forearm")
    thigh, shank = Segment("thigh"), Segment("shank")
    shoulder, shoulder_z = 0.205, 0.150  # from the middle: Winter's 0.129 of the height, less the flesh over the joint
    neck_y = 0.03  # where a clavicle begins
    clavicles = 0.035 if muscular else 0  # part of the upper trunk's mass

    arm = Body("l_uarm", (0, shoulder - neck_y, 0) if muscular else (0, shoulder, shoulder_z), upper_arm.hanging(),
               [Joint("l_sho_flex", (0, -1, 0), "sho_flex"), Joint("l_sho_abd", (1, 0, 0), "sho_abd"),
                Joint("l_sho_rot", (0, 0, -1), "sho_rot")],
               [capsule("l_uarm", "l_arm", (0, 0, -0.03), (0, 0, 0.03 - upper_arm.length), 0.043 * limb),
                *flesh("l_uarm")],
               bodies=[
        Body("l_farm", (0, 0, -upper_arm.length), forearm.hanging(),
             [Joint("l_elbow", (0, -1, 0), "elbow"), Joint("l_pron", (0, 0, -1), "pron")],
             [capsule("l_farm", "l_arm", (0, 0, -0.025), (0, 0, 0.03 - forearm.length), 0.034 * limb),
              *flesh("l_farm")],
             bodies=[hand(muscular)])])
    if muscular:
        arm = Body("l_clav", (0, neck_y, shoulder_z),
                   Inertial(clavicles / 2 * thorax.mass, (0, 0.09, 0), (1.2e-3, 6e-4, 1.2e-3)),
                   [Joint("l_clav_elev", (1, 0, 0), "clav_elev"), Joint("l_clav_prot", (0, 0, -1), "clav_prot")],
                   [capsule("l_clav", "clav", (0, 0.03, 0), (0, 0.15, 0), 0.018), *flesh("l_clav")], bodies=[arm])

    leg = Body("l_thigh", (0, 0.09, 0), thigh.hanging(),
               [Joint("l_hip_flex", (0, -1, 0), "hip_flex"), Joint("l_hip_abd", (1, 0, 0), "hip_abd"),
                Joint("l_hip_rot", (0, 0, 1), "hip_rot")],
               [capsule("l_thigh", "l_leg", (0, 0, -0.06), (0, 0, 0.05 - thigh.length), 0.065 * limb),
                *flesh("l_thigh")],
               bodies=[
        Body("l_shank", (0, 0, -thigh.length), shank.hanging(),
             [Joint("l_knee", (0, 1, 0), "knee")],
             [capsule("l_shank", "l_leg", (0, 0, -0.03), (0, 0, 0.05 - shank.length), 0.046 * limb), *flesh("l_shank")],
             bodies=[foot(midfoot=muscular)])])

    skull = Body("head", (0, 0, 0.215), Inertial(head.mass, (0.01, 0, 0.12), head.inertia),
                 [Joint("neck_flex", (0, 1, 0), "neck_flex"), Joint("neck_lat", (1, 0, 0), "neck_lat"),
                  Joint("neck_rot", (0, 0, 1), "neck_rot")],
                 [capsule("neck", "trunk", (0, 0, 0.015), (0, 0, 0.05), 0.048),
                  capsule("skull", "trunk", (-0.01, 0, 0.118), (0.015, 0, 0.145), 0.098), *flesh("head")],
                 [Site("head", (0, 0, 0.13))])
    chest = Body("thorax", (0, 0, abdomen.length),
                 Inertial((1 - clavicles) * thorax.mass, (0, 0, 0.125), thorax.inertia),
                 [Joint("tho_flex", (0, 1, 0), "tho_flex"), Joint("tho_lat", (1, 0, 0), "tho_lat"),
                  Joint("tho_rot", (0, 0, 1), "tho_rot")],
                 [capsule("thorax", "trunk", (0, -0.045, 0.095), (0, 0.045, 0.095), 0.105 * core),
                  capsule("shoulders", "trunk", (0, -0.10, 0.165), (0, 0.10, 0.165), 0.05), *flesh("thorax")],
                 [Site("thorax", (0, 0, 0.12))], [skull, *both(arm)])
    belly = Body("abdomen", (0, 0, pelvis.length), abdomen.standing(),
                 [Joint("lum_flex", (0, 1, 0), "lum_flex"), Joint("lum_lat", (1, 0, 0), "lum_lat"),
                  Joint("lum_rot", (0, 0, 1), "lum_rot")],
                 [capsule("abdomen", "trunk", (0, -0.045, 0.09), (0, 0.045, 0.09), 0.098 * core), *flesh("abdomen")],
                 bodies=[chest])
    return Body("pelvis", (0, 0, HIP), pelvis.standing(), [],
                [capsule("pelvis", "trunk", (0, -0.065, 0.04), (0, 0.065, 0.04), 0.09 * core), *flesh("pelvis")],
                [Site("pelvis", (0, 0, 0))], [belly, *both(leg)])


def stick():
    """Waist, hips, knees and ankles bend forward only; broad feet hold it sideways."""
    pelvis, thigh, shank, sole = Segment("lower_trunk"), Segment("thigh"), Segment("shank"), Segment("foot")

    # everything above the waist in one piece: segment, height over the waist
    stack = [(Segment("mid_trunk"), 0.10), (Segment("upper_trunk"), 0.34), (Segment("head"), 0.55)]
    arms, arms_z = 2 * sum(Segment(name).mass for name in ("upper_arm", "forearm", "hand")), 0.22
    mass = sum(segment.mass for segment, _ in stack) + arms
    com = (sum(segment.mass * z for segment, z in stack) + arms * arms_z) / mass
    about = lambda axis, arms_k2: (sum(segment.inertia[axis] + segment.mass * (z - com) ** 2 for segment, z in stack)
                                   + arms * ((arms_z - com) ** 2 + arms_k2))
    torso = Body("torso", (0, 0, pelvis.length), Inertial(mass, (0, 0, com), (about(0, 0.08), about(1, 0.04), 0.65)),
                 [Joint("waist", (0, 1, 0), "lum_flex")],
                 [capsule("torso", "trunk", (0, 0, 0.05), (0, 0, 0.40), 0.09),
                  Geom("skull", "trunk", (0.10,), pos=(0, 0, 0.56), type="sphere")],
                 [Site("thorax", (0, 0, 0.34)), Site("head", (0, 0, 0.58))])

    leg = Body("l_thigh", (0, 0.14, 0), thigh.hanging(), [Joint("l_hip_flex", (0, -1, 0), "hip_flex")],
               [capsule("l_thigh", "l_leg", (0, 0, -0.05), (0, 0, 0.05 - thigh.length), 0.055)], bodies=[
        Body("l_shank", (0, 0, -thigh.length), shank.hanging(), [Joint("l_knee", (0, 1, 0), "knee")],
             [capsule("l_shank", "l_leg", (0, 0, -0.03), (0, 0, 0.05 - shank.length), 0.042)], bodies=[
            Body("l_foot", (0, 0, -shank.length), Inertial(sole.mass, (0.045, 0, -0.04), sole.inertia[::-1]),
                 [Joint("l_ank_flex", (0, -1, 0), "ank_flex")],
                 soles("l_foot", (-0.05, 0.05), (0.165, 0.05)), FOOT_SITES)])])
    return Body("pelvis", (0, 0, HIP), pelvis.standing(), [],
                [capsule("pelvis", "trunk", (0, -0.09, 0.03), (0, 0.09, 0.03), 0.07)],
                [Site("pelvis", (0, 0, 0))], [torso, *both(leg)])


# ----------------------------------------------------------------------------------------------------------- MJCF


def number(x):
    return f"{x + 0.0:.6g}"  # + 0.0: a mirrored 0 is not -0


def tag(element, **attributes):
    """<element .../>, without the attributes that are empty."""
    text = ""
    for name, value in attributes.items():
        if value == "" or value == () or value is None:
            continue
        if isinstance(value, (int, float)):
            value = number(value)
        elif not isinstance(value, str):
            value = " ".join(number(x) for x in value)
        text += f' {name}="{value}"'
    return f"<{element}{text}/>"


def walk(body):
    yield body
    for child in body.bodies:
        yield from walk(child)


def body_lines(body, indent, root=False):
    pad = "  " * indent
    opening = tag("body", name=body.name, pos=body.pos, euler=body.euler).replace("/>", ">")
    yield pad + opening
    pad += "  "
    yield pad + tag("inertial", pos=body.inertial.com, mass=body.inertial.mass, diaginertia=body.inertial.inertia)
    if root:
        yield pad + '<freejoint name="root"/>'
    for joint in body.joints:
        yield pad + tag("joint", name=joint.name, **{"class": joint.kind}, axis=joint.axis)
    for site in body.sites:
        yield pad + (tag("site", name=site.name, type="box", pos=site.pos, size=site.box, group=4) if site.box
                     else tag("site", name=site.name, pos=site.pos))
    for geom in body.geoms:
        name = "m_" + geom.name if geom.contact == "muscle" else geom.name
        yield pad + tag("geom", name=name, **{"class": geom.contact}, type=geom.type, pos=geom.pos, euler=geom.euler,
                        fromto=geom.ends and geom.ends[0] + geom.ends[1], size=geom.size)
    for child in body.bodies:
        yield from body_lines(child, indent + 1)
    yield "  " * indent + "</body>"


def mjcf(name, body, condim, full=False):
    bodies = list(walk(body))
    joints = [joint for one in bodies for joint in one.joints]
    kinds = {joint.kind for joint in joints}
    contacts = {geom.contact for one in bodies for geom in one.geoms}

    lines = [f'<mujoco model="{name}">',
             "  <!-- written by generate.py -->",
             "  " + tag("option", timestep=0.005, integrator="implicitfast", cone="pyramidal", solver="Newton",
                        iterations=20, ls_iterations=20),
             '  <size memory="4M"/>',
             "",
             "  <default>",
             '    <geom type="capsule" solref="0.015 1" solimp="0.9 0.95 0.002"/>',
             '    <joint type="hinge" solreflimit="0.02 1"/>',
             '    <site size="0.01 0.01 0.01"/>',
             "    <!-- geoms: what they meet -->"]
    for contact, row in CONTACT.items():
        if contact not in contacts:
            continue
        contype, conaffinity, friction = MUSCLE_FULL if full and contact == "muscle" else row
        firm = contact in ("l_foot", "r_foot", "clav")  # flesh also resists spinning
        look = {"type": "ellipsoid", "rgba": (0.75, 0.25, 0.22, 1)} if contact == "muscle" else {}
        shape = tag("geom", contype=contype, conaffinity=conaffinity, condim=3 if firm else condim, friction=friction,
                    **look)
        lines.append(f'    <default class="{contact}">{shape}</default>')
    lines.append("    <!-- joints and their servos -->")
    for kind, (kp, kd, limit, armature, damping, span) in JOINTS.items():
        if kind not in kinds:
            continue
        friction = FINGER_FRICTION.get(kind, FULL_FRICTION * limit if full else None)
        lines += [f'    <default class="{kind}">',
                  "      " + tag("joint", range=span, armature=armature, damping=damping, frictionloss=friction),
                  "      " + tag("position", kp=kp, kv=kd, forcerange=(-limit, limit)),
                  "    </default>"]
    lines += ["  </default>",
              "",
              "  <worldbody>",
              "    " + tag("geom", name="floor", type="plane", size=(20, 20, 0.1), contype=FLOOR, conaffinity=0,
                           condim=3, friction=SOLE_FRICTION),
              *body_lines(body, 2, root=True),
              "  </worldbody>",
              "",
              "  <actuator>",
              *("    " + tag("position", name=joint.name, **{"class": joint.kind}, joint=joint.name)
                for joint in joints),
              "  </actuator>",
              "",
              "  <sensor>",
              *("    " + tag("touch", name=f"{side}_load", site=f"{side}_sole") for side in "lr"),
              "  </sensor>",
              "</mujoco>"]
    return "\n".join(lines) + "\n"


def models():
    return {"stick.xml": mjcf("stick", stick(), condim=3),
            "simple.xml": mjcf("simple", human(muscular=False), condim=3),
            "muscular.xml": mjcf("muscular", human(muscular=True), condim=4),
            "muscular_full.xml": mjcf("muscular_full", human(muscular=True), condim=4, full=True)}


def main(arguments):
    check = "--check" in arguments
    folders = [argument for argument in arguments if argument != "--check"]
    if len(folders) > 1 or any(folder.startswith("-") for folder in folders):
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(folders[0]) if folders else Path(__file__).resolve().parent
    stale = []
    for name, text in models().items():
        path = folder / name
        if not check:
            path.write_text(text, encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
    if stale:
        print(f"not what generate.py writes: {', '.join(stale)}; run models/generate.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
