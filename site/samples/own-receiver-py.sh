TLS_PEM=.data/listen/receiver.pem PORT=9443 python3 receiver.py
