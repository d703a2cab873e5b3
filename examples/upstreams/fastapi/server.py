# pip install fastapi uvicorn "pyjwt[crypto]"
# INTERCEPT_ISSUER=https://api.example.com TARGET=orders uvicorn server:app --port 3000
import os

import jwt
from fastapi import Depends, FastAPI, HTTPException, Request

issuer = os.environ["INTERCEPT_ISSUER"]
audience = os.environ["TARGET"]
keys = jwt.PyJWKClient(f"{issuer}/.well-known/jwks.json", cache_keys=True, lifespan=3600)
app = FastAPI()


def caller(request: Request) -> dict:
    """The claims of Intercept-Assertion; 401 without a good one."""
    token = request.headers.get("intercept-assertion", "")
    try:
        if jwt.get_unverified_header(token).get("typ") != "intercept-assertion+jwt":
            raise jwt.InvalidTokenError("not an assertion")
        key = keys.get_signing_key_from_jwt(token).key
        return jwt.decode(
            token, key, algorithms=["ES256"], issuer=issuer, audience=audience, leeway=5,
            options={"require": ["exp", "iat", "iss", "aud", "sub"]},
        )
    except jwt.PyJWTError as error:
        raise HTTPException(401, "Calls come through Intercept only.") from error


@app.get("/hello")
def hello(claims: dict = Depends(caller)) -> dict:
    return {"organization": claims["organization_slug"], "key": claims["sub"]}
