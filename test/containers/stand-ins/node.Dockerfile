ARG SUITE
FROM debian:${SUITE}-slim
COPY package/bin/node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
COPY authorities.pem /etc/ssl/registry.pem
ENV NODE_EXTRA_CA_CERTS=/etc/ssl/registry.pem
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
