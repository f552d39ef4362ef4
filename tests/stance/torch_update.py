#!/usr/bin/env python3
"""Records what PyTorch makes of one update of PPO, for ppo_test.cpp.

    torch_update.py TESTS     with torch installed; TESTS is the program with ppo_test.cpp in it

TESTS writes the rollout, the first policy and the order of samples; the update is done here in double by torch's autograd, Adam and
clip_grad_norm_; both go to torch_update.json beside this file. To be run again when the rollout of the test changes.
"""
import json
import os
import subprocess
import sys
import tempfile

import torch

torch.set_default_dtype(torch.float64)
CLIP_OBSERVATION, EPSILON = 8, 1e-4


def network(layers):
    """A Sequential with ELU between its layers."""
    modules = []
    for layer in layers:
        linear = torch.nn.Linear(layer["in"], layer["out"])
        linear.weight.data = torch.tensor(layer["weight"]).reshape(layer["out"], layer["in"])
        linear.bias.data = torch.tensor(layer["bias"])
        modules += [linear, torch.nn.ELU()]
    return torch.nn.Sequential(*modules[:-1])


class Statistics:
    """Running mean and variance; starts with hardly a sample of mean 0 and variance 1."""

    def __init__(self, n):
        self.mean, self.var, self.count = torch.zeros(n), torch.ones(n), 0

    def take_in(self, x):
        old, rows = self.count + 1e-4, len(x)
        d = x.mean(0) - self.mean
        total = old + rows
        self.mean = self.mean + d * rows / total
        self.var = (self.var * old + x.var(0, unbiased=False) * rows + d ** 2 * old * rows / total) / total
        self.count += rows

    def __call__(self, x):
        return ((x - self.mean) / torch.sqrt(self.var + EPSILON)).clamp(-CLIP_OBSERVATION, CLIP_OBSERVATION)


def log_density(actor, log_std, x, action):
    return torch.distributions.Normal(actor(x), log_std.exp()).log_prob(action).sum(-1)


def advantages(reward, done, value, next_value, s):
    result, running = torch.zeros_like(reward), torch.zeros(reward.shape[1])
    for t in reversed(range(len(reward))):
        delta = reward[t] + s["gamma"] * next_value * ~done[t] - value[t]
        running = delta + s["gamma"] * s["lambda"] * ~done[t] * running
        result[t], next_value = running, value[t]
    return result


def update(given):
    s, N = given["settings"], given["nworld"]
    H = s["horizon"]
    observation = torch.tensor(given["observation"]).reshape(H + 1, N, given["nobs"])
    action = torch.tensor(given["action"]).reshape(H * N, given["nact"])
    reward = torch.tensor(given["reward"]).reshape(H, N)
    done = torch.tensor(given["done"]).reshape(H, N) > 0
    last = torch.tensor(given["last"]).reshape(N, given["nobs"])
    actor, critic = network(given["policy"]["actor"]), network(given["policy"]["critic"])
    log_std = torch.nn.Parameter(torch.tensor(given["policy"]["log_std"]))

    normalise = Statistics(given["nobs"])
    normalise.take_in(observation[0])
    x = normalise(observation[:H]).reshape(H * N, -1)
    with torch.no_grad():
        old_density = log_density(actor, log_std, x, action)
        value = critic(x).reshape(H, N)
        for world, t in enumerate(given["truncated_at"]):
            if t >= 0:
                reward[t, world] += s["gamma"] * critic(normalise(last[world]))[0]
        advantage = advantages(reward, done, value, critic(normalise(observation[H])).flatten(), s)
        target = (advantage + value).flatten()
        advantage = advantage.flatten()
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)

    of_actor, of_critic = [*actor.parameters(), log_std], [*critic.parameters()]
    adam = torch.optim.Adam([{"params": of_actor, "lr": s["actor_rate"]}, {"params": of_critic, "lr": s["critic_rate"]}], eps=1e-5)
    kls, surrogates, value_losses = [], [], []
    for order in given["order"]:
        for k in range(s["minibatches"]):
            rows = torch.tensor(order[k * H * N // s["minibatches"]:(k + 1) * H * N // s["minibatches"]])
            log_ratio = log_density(actor, log_std, x[rows], action[rows]) - old_density[rows]
            ratio = log_ratio.exp()
            cut = ratio.clamp(1 - s["clip"], 1 + s["clip"])
            surrogate = -torch.min(ratio * advantage[rows], cut * advantage[rows]).mean()
            value_loss = (critic(x[rows]).flatten() - target[rows]).pow(2).mean()
            adam.zero_grad()
            (surrogate + value_loss - s["entropy"] * log_std.sum()).backward()
            actor_norm = torch.nn.utils.clip_grad_norm_(of_actor, s["grad_norm"])
            critic_norm = torch.nn.utils.clip_grad_norm_(of_critic, s["grad_norm"])
            adam.step()
            kls.append((ratio - 1 - log_ratio).mean().item())
            surrogates.append(surrogate.item())
            value_losses.append(value_loss.item())
    kl = sum(kls[-s["minibatches"]:]) / s["minibatches"]
    rate = s["actor_rate"]
    if kl < s["target_kl"] / 2:
        rate = min(s["most_rate"], rate * s["rate_factor"])
    elif kl > s["target_kl"] * 1.5:
        rate = max(s["least_rate"], rate / s["rate_factor"])
    normalise.take_in(observation[:H].reshape(H * N, -1))
    return {
        "kl": kl, "rate": rate, "surrogate": sum(surrogates) / len(surrogates), "value_loss": sum(value_losses) / len(value_losses),
        "actor_norm": actor_norm.item(), "critic_norm": critic_norm.item(),
        "parameters": torch.cat([p.detach().flatten() for p in of_actor + of_critic]).tolist(),
        "mean": normalise.mean.tolist(), "var": normalise.var.tolist(), "count": normalise.count,
    }


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__.strip())
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "given.json")
        subprocess.run([sys.argv[1], "[torch_given]"], check=True, env={**os.environ, "TORCH_GIVEN": path})
        with open(path) as file:
            given = json.load(file)
    result = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_update.json")
    with open(result, "w") as file:
        json.dump({"torch": torch.__version__, "given": given, "expected": update(given)}, file)
        file.write("\n")
    print(result)


if __name__ == "__main__":
    main()
