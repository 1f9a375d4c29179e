import hashlib, hmac, re, time


def verify(secrets, signature, timestamp, body, now_ms=None):
    """Returns "valid", "malformed", "stale" or "forged".

    secrets: a list, which holds two while you rotate them. body: the raw bytes
    before any parsing (Flask: request.get_data(), Django: request.body).
    """
    if isinstance(secrets, str) or not secrets or not all(re.fullmatch(r"whsec_[^\s\"',]+", s or "") for s in secrets):
        raise ValueError("verify needs a list of signing secrets, each as issued: whsec_…")
    if not isinstance(body, bytes) or not all(isinstance(h or "", str) for h in (signature, timestamp)):
        raise TypeError("verify needs the two headers as text and the body as raw bytes")
    if not (re.fullmatch("sha256=[^,]*", signature or "") and re.fullmatch("[0-9]{1,15}", timestamp or "")):
        return "malformed"
    now_ms = time.time() * 1000 if now_ms is None else now_ms
    if not abs(now_ms - int(timestamp)) <= 5 * 60 * 1000:
        return "stale"
    message = timestamp.encode() + b"." + body
    macs = [hmac.new(secret.encode(), message, hashlib.sha256) for secret in secrets]
    expected = [b"sha256=" + mac.hexdigest().encode() for mac in macs]
    genuine = [hmac.compare_digest(signature.encode(), one) for one in expected]
    return "valid" if any(genuine) else "forged"
