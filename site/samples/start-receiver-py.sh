python3 receiver.py
