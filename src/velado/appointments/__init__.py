"""Appointments that keep people anonymous: place and hour become quasi-identifiers, so they are given out by groups.

After the work of the Universidad Complutense de Madrid (UCM) on anonymous screening programmes.
"""
